#include "CLinux.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/close_range.h>
#include <linux/seccomp.h>
#include <linux/tcp.h>
#include <malloc.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
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

int clinux_set_direct(int fd, int is_direct) {
  int flags = fcntl(fd, F_GETFL);
  return flags < 0 ? -1 : fcntl(fd, F_SETFL, is_direct ? flags | O_DIRECT : flags & ~O_DIRECT);
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

int clinux_is_ignored(int signal) {
  struct sigaction action;
  return sigaction(signal, NULL, &action) == 0 && action.sa_handler == SIG_IGN;
}

int clinux_set_parent_death_signal(int signal) { return prctl(PR_SET_PDEATHSIG, signal); }

int clinux_fsetxattr(int fd, const char *name, const void *value, size_t size) {
  return fsetxattr(fd, name, value, size, 0);
}

ssize_t clinux_fgetxattr(int fd, const char *name, void *value, size_t size) {
  return fgetxattr(fd, name, value, size);
}

int clinux_fstat(int fd, void *status) { return (int)syscall(SYS_fstat, fd, status); }

int clinux_forgo_privileges(void) { return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); }

int clinux_drop_capabilities(void) {
  struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
  struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {0};
  return (int)syscall(SYS_capset, &header, none);
}

int clinux_hide_memory(void) { return prctl(PR_SET_DUMPABLE, 0); }
int clinux_close_from(int first) { return close_range((unsigned)first, ~0u, 0); }

int clinux_can_trap_calls(void) {
  uint32_t action = SECCOMP_RET_TRAP;
  return syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) == 0;
}

static int trap_socket;
static uint8_t trap_mark;

static void tell_trapped_call(int signal, siginfo_t *info, void *context) {
  (void)context;
  uint8_t text[1 + sizeof info->si_syscall] = {trap_mark};
  memcpy(text + 1, &info->si_syscall, sizeof info->si_syscall);
  struct iovec piece = {.iov_base = text, .iov_len = sizeof text};
  struct msghdr message = {.msg_iov = &piece, .msg_iovlen = 1};
  sendmsg(trap_socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
  /* Not allowed either, and by now (SA_RESETHAND) SIGSYS ends the process. */
  kill(getpid(), signal);
  _exit(signal);
}

int clinux_tell_trapped_calls(int socket, uint8_t mark) {
  trap_socket = socket;
  trap_mark = mark;
  struct sigaction action = {.sa_sigaction = tell_trapped_call, .sa_flags = SA_SIGINFO | (int)SA_RESETHAND};
  return sigaction(SIGSYS, &action, NULL);
}

int clinux_get_seals(void) { return F_GET_SEALS; }
int clinux_set_name(void) { return PR_SET_NAME; }

/* sysdeps/unix/sysv/linux/createthread.c and pthread_create.c of glibc, 2.3 to 2.42. */
uint64_t clinux_thread_flags(void) {
  return CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM | CLONE_SETTLS |
         CLONE_PARENT_SETTID | CLONE_CHILD_CLEARTID;
}

/* Several pieces that are not mapped each for itself (M_MMAP_THRESHOLD), more than a pool keeps when they are freed. */
static void *grow_and_shrink(void *nothing) {
  enum { count = 16, size = 100 << 10 };
  void *volatile pieces[count];
  for (int i = 0; i < count; i++) pieces[i] = malloc(size);
  for (int i = 0; i < count; i++) free(pieces[i]);
  return nothing;
}

int clinux_limit_heaps(int count) {
  mallopt(M_ARENA_MAX, count);
  pthread_t thread;
  int error = pthread_create(&thread, NULL, grow_and_shrink, NULL);
  return error == 0 ? pthread_join(thread, NULL) : error;
}

/* What is handed out is filled with the complement of what is freed. */
void clinux_wipe_heap(void) { mallopt(M_PERTURB, 0xFF); }

int clinux_exited(int status) { return WIFEXITED(status); }
int clinux_exit_code(int status) { return WEXITSTATUS(status); }
int clinux_term_signal(int status) { return WIFSIGNALED(status) ? WTERMSIG(status) : 0; }
