#include "CLinux.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/tcp.h>
#include <malloc.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

enum { all_seals = F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL, descriptors_max = 4 };

int clinux_memfd_create(const char *name) { return memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING); }
int clinux_seal(int fd) { return fcntl(fd, F_ADD_SEALS, all_seals); }

int clinux_is_sealed(int fd) {
  int seals = fcntl(fd, F_GET_SEALS);
  return seals < 0 ? -1 : (seals & all_seals) == all_seals;
}

int clinux_open_unnamed(int folder, mode_t mode) {
  return openat(folder, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, mode);
}

int clinux_link_unnamed(int fd, int folder, const char *name) {
  /* AT_EMPTY_PATH would need CAP_DAC_READ_SEARCH; the way through /proc needs nothing. */
  char path[64];
  snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
  return linkat(AT_FDCWD, path, folder, name, AT_SYMLINK_FOLLOW);
}

ssize_t clinux_send(int socket, const void *bytes, size_t count, const int *descriptors, size_t descriptor_count) {
  if (descriptor_count > descriptors_max) {
    errno = EINVAL;
    return -1;
  }
  union {
    struct cmsghdr header;
    char space[CMSG_SPACE(sizeof(int) * descriptors_max)];
  } control;
  struct iovec piece = {.iov_base = (void *)bytes, .iov_len = count};
  struct msghdr message = {.msg_iov = &piece, .msg_iovlen = 1};
  if (descriptor_count > 0) {
    memset(&control, 0, sizeof control);
    message.msg_control = &control;
    message.msg_controllen = CMSG_SPACE(sizeof(int) * descriptor_count);
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int) * descriptor_count);
    memcpy(CMSG_DATA(header), descriptors, sizeof(int) * descriptor_count);
  }
  return sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
}

ssize_t clinux_receive(int socket, void *bytes, size_t capacity, int *descriptors, size_t *descriptor_count) {
  union {
    struct cmsghdr header;
    char space[CMSG_SPACE(sizeof(int) * descriptors_max)];
  } control;
  struct iovec piece = {.iov_base = bytes, .iov_len = capacity};
  struct msghdr message = {
      .msg_iov = &piece, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
  size_t room = *descriptor_count, got = 0;
  *descriptor_count = 0;
  ssize_t received = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
  if (received < 0) return -1;
  int cut = (message.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) != 0;
  for (struct cmsghdr *header = CMSG_FIRSTHDR(&message); header; header = CMSG_NXTHDR(&message, header)) {
    if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) continue;
    size_t count = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (size_t i = 0; i < count; i++) {
      int fd;
      memcpy(&fd, CMSG_DATA(header) + i * sizeof(int), sizeof fd);
      if (got < room) {
        descriptors[got++] = fd;
      } else {
        cut = 1;
        close(fd);
      }
    }
  }
  if (cut) {
    while (got > 0) close(descriptors[--got]);
    errno = EMSGSIZE;
    return -1;
  }
  *descriptor_count = got;
  return received;
}

int clinux_tcp_progress(
    int socket, uint64_t *received, uint64_t *acknowledged, int *peer_closed, int *is_reset) {
  /* TCP_CLOSE and TCP_CLOSE_WAIT of netinet/tcp.h, which cannot stand beside linux/tcp.h */
  enum { closed = 7, close_wait = 8 };
  struct tcp_info info;
  socklen_t size = sizeof info;
  memset(&info, 0, sizeof info);
  if (getsockopt(socket, IPPROTO_TCP, TCP_INFO, &info, &size) != 0) return -1;
  *received = info.tcpi_bytes_received;
  *acknowledged = info.tcpi_bytes_acked;
  *peer_closed = info.tcpi_state == close_wait;
  *is_reset = info.tcpi_state == closed;
  return 0;
}

int clinux_eventfd(void) { return eventfd(0, EFD_CLOEXEC | EFD_SEMAPHORE); }

int clinux_pidfd_open(pid_t pid) { return (int)syscall(SYS_pidfd_open, pid, 0); }

int clinux_spawn_closefrom(posix_spawn_file_actions_t *actions, int first) {
  return posix_spawn_file_actions_addclosefrom_np(actions, first);
}

int clinux_spawn_setsid(void) { return POSIX_SPAWN_SETSID; }

void clinux_name_thread(const char *name) {
  char cut[16];
  snprintf(cut, sizeof cut, "%s", name);
  pthread_setname_np(pthread_self(), cut);
}

int clinux_set_parent_death_signal(int signal) { return prctl(PR_SET_PDEATHSIG, signal); }

int clinux_fsetxattr(int fd, const char *name, const void *value, size_t size) {
  return fsetxattr(fd, name, value, size, 0);
}

ssize_t clinux_fgetxattr(int fd, const char *name, void *value, size_t size) {
  return fgetxattr(fd, name, value, size);
}

/* What is handed out is filled with the complement of what is freed. */
void clinux_wipe_heap(void) { mallopt(M_PERTURB, 0xFF); }

int clinux_exited(int status) { return WIFEXITED(status); }
int clinux_exit_code(int status) { return WEXITSTATUS(status); }
int clinux_term_signal(int status) { return WIFSIGNALED(status) ? WTERMSIG(status) : 0; }
