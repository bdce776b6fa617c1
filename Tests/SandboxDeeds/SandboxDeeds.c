#include "SandboxDeeds.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <linux/io_uring.h>
#include <linux/perf_event.h>
#include <linux/prctl.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

static pid_t parent;
static char *const no_words[] = {"true", NULL};

void deed_prepare(void) { parent = getppid(); }

static void *page(void) { return mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0); }

static void *nothing(void *argument) { return argument; }

static long threads(void) {
  for (int i = 0; i < 200; i++) {
    pthread_t thread;
    int error = pthread_create(&thread, NULL, nothing, NULL);
    if (error == 0) error = pthread_join(thread, NULL);
    if (error != 0) return error;
  }
  return 0;
}

static void *allocate(void *argument) {
  for (int i = 0; i < 1000; i++) free(calloc(1, 1000 + 100 * (size_t)i));
  return argument;
}

/* More threads at a time than malloc has pools. */
static long heaps(void) {
  enum { count = 32 };
  pthread_t group[count];
  for (int i = 0; i < count; i++)
    if (pthread_create(&group[i], NULL, allocate, NULL) != 0) return 1;
  for (int i = 0; i < count; i++) pthread_join(group[i], NULL);
  return 0;
}

static long memory(void) {
  size_t size = 256 << 20;
  char *bytes = malloc(size);
  if (bytes == NULL) return 1;
  memset(bytes, 1, size);
  bytes = realloc(bytes, 2 * size);
  if (bytes == NULL) return 1;
  free(bytes);
  return 0;
}

static int compare(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }

static long sort(void) {
  static int numbers[1 << 20];
  for (int i = 0; i < 1 << 20; i++) numbers[i] = i ^ 0x5555;
  qsort(numbers, 1 << 20, sizeof(int), compare);
  return numbers[1] != 1;
}

static long date(void) {
  time_t now = time(NULL);
  struct tm parts;
  return gmtime_r(&now, &parts) == NULL;
}

static long print(void) { return printf("%d\n", 42) < 0 || fprintf(stderr, "%d\n", 42) < 0 || fflush(stdout) != 0; }

static long name(void) { return pthread_setname_np(pthread_self(), "probe"); }

static long chance(void) {
  char bytes[16];
  return getentropy(bytes, sizeof bytes);
}

static long data_limit(void) {
  struct rlimit limit;
  if (getrlimit(RLIMIT_DATA, &limit) != 0) return 1;
  limit.rlim_cur = 1 << 30;
  return setrlimit(RLIMIT_DATA, &limit);
}

/* What the front allows for good is not to be raised again, not by root either. */
static long raise_data_limit(void) {
  struct rlimit limit = {1 << 30, 1 << 30};
  if (setrlimit(RLIMIT_DATA, &limit) != 0) return 1;
  limit.rlim_cur = limit.rlim_max = RLIM_INFINITY;
  return setrlimit(RLIMIT_DATA, &limit) == 0 || errno != EPERM;
}

/* As FFmpeg does it; sysconf opens a file. */
static long processors(void) {
  cpu_set_t set;
  return sched_getaffinity(0, sizeof set, &set);
}

static long spawn(void) {
  pid_t pid;
  return posix_spawn(&pid, "/bin/true", NULL, NULL, no_words, NULL);
}

static long connect_to(const char *path) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  strcpy(address.sun_path, path);
  return connect(3, (struct sockaddr *)&address, sizeof address);
}

static long send_on(int socket) {
  struct msghdr message = {0};
  return sendmsg(socket, &message, 0);
}

static long handle_signal(void) {
  struct sigaction action = {.sa_handler = SIG_IGN};
  return sigaction(SIGSYS, &action, NULL);
}

static long open_with_signal_blocked(void) {
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_BLOCK, &all, NULL);
  return open("/etc/passwd", O_RDONLY);
}

static void *open_file(void *argument) {
  open("/etc/passwd", O_RDONLY);
  return argument;
}

static long open_on_a_thread(void) {
  pthread_t thread;
  return pthread_create(&thread, NULL, open_file, NULL) || pthread_join(thread, NULL);
}

static long limit_files(void) {
  struct rlimit limit = {.rlim_cur = 3, .rlim_max = 3};
  return setrlimit(RLIMIT_NOFILE, &limit);
}

static long overwrite(void) { return *(volatile char *)1 = 1; }

#ifdef __x86_64__
static long open_as_32_bit(void) {
  long result;
  __asm__ volatile("int $0x80" : "=a"(result) : "a"(20 /* getpid */) : "memory");
  return result;
}
#endif

#define THREAD_FLAGS                                                                                                  \
  (CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM | CLONE_SETTLS |                  \
   CLONE_PARENT_SETTID | CLONE_CHILD_CLEARTID)

/* Where the sandbox fails nothing of it does harm: arguments are wrong or to no effect. */
#define DEEDS(TRAP, OTHER)                                                                                            \
  /* files */                                                                                                         \
  TRAP("open a file", SYS_openat, open("/etc/passwd", O_RDONLY))                                                      \
  TRAP("open a file by openat2", SYS_openat2, syscall(SYS_openat2, AT_FDCWD, "/etc/passwd", NULL, 0))                 \
  TRAP("open a file on a thread", SYS_openat, open_on_a_thread())                                                     \
  TRAP("read standard input", SYS_read, read(0, page(), 1))                                                           \
  TRAP("write to a fresh descriptor", SYS_memfd_create, write(memfd_create("probe", 0), "x", 1))                      \
  TRAP("list a folder", SYS_getdents64, syscall(SYS_getdents64, 0, page(), 4096))                                     \
  TRAP("ask whether a file is there", SYS_faccessat, syscall(SYS_faccessat, AT_FDCWD, "/etc/passwd", R_OK))           \
  TRAP("ask by statx", SYS_statx, syscall(SYS_statx, AT_FDCWD, "/etc/passwd", 0, 0, page()))                          \
  TRAP("read a link", SYS_readlinkat, syscall(SYS_readlinkat, AT_FDCWD, "/proc/self/exe", page(), 4096))              \
  TRAP("ask for the folder", SYS_getcwd, syscall(SYS_getcwd, page(), 4096))                                           \
  TRAP("change the folder", SYS_chdir, chdir("/"))                                                                    \
  TRAP("change the root", SYS_chroot, chroot("/nowhere"))                                                             \
  TRAP("make a folder", SYS_mkdirat, syscall(SYS_mkdirat, AT_FDCWD, "/nowhere/probe", 0))                             \
  TRAP("remove a file", SYS_unlinkat, syscall(SYS_unlinkat, AT_FDCWD, "/nowhere/probe", 0))                           \
  TRAP("rename a file", SYS_renameat2, syscall(SYS_renameat2, AT_FDCWD, "/nowhere/a", AT_FDCWD, "/nowhere/b", 0))     \
  TRAP("link a file", SYS_linkat, syscall(SYS_linkat, AT_FDCWD, "/nowhere/a", AT_FDCWD, "/nowhere/b", 0))             \
  TRAP("make a symbolic link", SYS_symlinkat, syscall(SYS_symlinkat, "a", AT_FDCWD, "/nowhere/b"))                    \
  TRAP("make a device", SYS_mknodat, syscall(SYS_mknodat, AT_FDCWD, "/nowhere/probe", S_IFCHR, 0))                    \
  TRAP("change a file's mode", SYS_fchmodat, syscall(SYS_fchmodat, AT_FDCWD, "/nowhere/probe", 0777))                 \
  TRAP("change an open file's mode", SYS_fchmod, fchmod(1, 0666))                                                     \
  TRAP("change an open file's owner", SYS_fchown, fchown(1, -1, -1))                                                  \
  TRAP("change a file's times", SYS_utimensat, utimensat(AT_FDCWD, "/nowhere/probe", NULL, 0))                        \
  TRAP("set an attribute", SYS_fsetxattr, syscall(SYS_fsetxattr, 1, "user.probe", "x", 1, 0))                         \
  TRAP("truncate by path", SYS_truncate, truncate("/nowhere/probe", 0))                                               \
  TRAP("allocate on a disk", SYS_fallocate, fallocate(1, 0, 0, 1))                                                    \
  TRAP("copy between files", SYS_copy_file_range, syscall(SYS_copy_file_range, 0, NULL, 1, NULL, 1, 0))               \
  TRAP("send a file", SYS_sendfile, syscall(SYS_sendfile, 1, 0, NULL, 1))                                             \
  TRAP("splice", SYS_splice, syscall(SYS_splice, 0, NULL, 1, NULL, 1, 0))                                             \
  TRAP("open by handle", SYS_open_by_handle_at, syscall(SYS_open_by_handle_at, AT_FDCWD, NULL, 0))                    \
  TRAP("sync", SYS_sync, (sync(), 0))                                                                                 \
  TRAP("duplicate a descriptor", SYS_dup, dup(3))                                                                     \
  TRAP("duplicate by fcntl", SYS_fcntl, fcntl(3, F_DUPFD, 0))                                                         \
  TRAP("set a descriptor's flags", SYS_fcntl, fcntl(3, F_SETFL, O_NONBLOCK))                                          \
  TRAP("own a descriptor's signals", SYS_fcntl, fcntl(3, F_SETOWN, parent))                                           \
  TRAP("make a pipe", SYS_pipe2, pipe2((int[2]){0}, 0))                                                               \
  TRAP("make a memory file", SYS_memfd_create, memfd_create("probe", 0))                                              \
  OTHER("ask for a path's status", deed_refused, ENOSYS, stat("/etc/passwd", page()))                                 \
  OTHER("ask about a terminal", deed_refused, ENOTTY, isatty(1) - 1)                                                  \
  /* the network, and other processes' sockets */                                                                     \
  TRAP("make a socket", SYS_socket, socket(AF_INET, SOCK_STREAM, 0))                                                  \
  TRAP("make a pair of sockets", SYS_socketpair, socketpair(AF_UNIX, SOCK_STREAM, 0, (int[2]){0}))                    \
  TRAP("connect", SYS_connect, connect_to("/nowhere/probe"))                                                          \
  TRAP("bind", SYS_bind, bind(3, page(), sizeof(struct sockaddr_un)))                                                 \
  TRAP("listen", SYS_listen, listen(3, 1))                                                                            \
  TRAP("accept", SYS_accept4, accept4(3, NULL, NULL, 0))                                                              \
  TRAP("send with an address", SYS_sendto, send(3, "x", 1, 0))                                                        \
  TRAP("send elsewhere", SYS_sendmsg, send_on(1))                                                                     \
  TRAP("receive elsewhere", SYS_recvmsg, recvmsg(0, page(), 0))                                                       \
  TRAP("set a socket's option", SYS_setsockopt, setsockopt(3, SOL_SOCKET, SO_SNDBUF, page(), 4))                      \
  /* programs and processes */                                                                                        \
  TRAP("execute a program", SYS_execve, execve("/bin/true", no_words, NULL))                                          \
  TRAP("execute by descriptor", SYS_execveat, syscall(SYS_execveat, 0, "", no_words, NULL, AT_EMPTY_PATH))            \
  TRAP("fork", SYS_clone, syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0))                                                    \
  OTHER("spawn", deed_killed, 0, spawn()) /* with all signals blocked */                                              \
  TRAP("make a namespace by clone", SYS_clone, syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0))               \
  TRAP("make a thread in a namespace", SYS_clone, syscall(SYS_clone, THREAD_FLAGS | CLONE_NEWNS, 0, 0, 0, 0))         \
  TRAP("make a thread with its own files", SYS_clone, syscall(SYS_clone, THREAD_FLAGS & ~CLONE_FILES, 0, 0, 0, 0))    \
  OTHER("make a process by clone3", deed_refused, ENOSYS, syscall(SYS_clone3, NULL, 0))                               \
  TRAP("signal another process", SYS_kill, kill(parent, 0))                                                           \
  TRAP("signal itself", SYS_kill, kill(getpid(), 0))                                                                  \
  TRAP("signal another's thread", SYS_tgkill, syscall(SYS_tgkill, parent, parent, SIGABRT))                           \
  TRAP("signal its own thread", SYS_tgkill, syscall(SYS_tgkill, getpid(), gettid(), SIGTERM))                         \
  TRAP("queue a signal", SYS_rt_sigqueueinfo, syscall(SYS_rt_sigqueueinfo, parent, 0, page()))                        \
  TRAP("signal by descriptor", SYS_pidfd_send_signal, syscall(SYS_pidfd_send_signal, 0, 0, NULL, 0))                  \
  TRAP("hold a process", SYS_pidfd_open, syscall(SYS_pidfd_open, parent, 0))                                          \
  TRAP("take a process's descriptor", SYS_pidfd_getfd, syscall(SYS_pidfd_getfd, 0, 0, 0))                             \
  TRAP("wait for a process", SYS_wait4, syscall(SYS_wait4, -1, NULL, 1, NULL))                                        \
  TRAP("trace", SYS_ptrace, syscall(SYS_ptrace, 16 /* PTRACE_ATTACH */, parent, 0, 0))                                \
  TRAP("read another's memory", SYS_process_vm_readv, process_vm_readv(parent, NULL, 0, NULL, 0, 0))                  \
  TRAP("write another's memory", SYS_process_vm_writev, process_vm_writev(parent, NULL, 0, NULL, 0, 0))               \
  TRAP("advise on another's memory", SYS_process_madvise, syscall(SYS_process_madvise, 0, NULL, 0, 0, 0))             \
  TRAP("compare processes", SYS_kcmp, syscall(SYS_kcmp, parent, getpid(), 0, 0, 0))                                   \
  TRAP("limit another", SYS_prlimit64, prlimit(parent, RLIMIT_DATA, NULL, NULL))                                      \
  TRAP("limit other things", SYS_prlimit64, limit_files())                                                            \
  TRAP("ask who the parent is", SYS_getppid, getppid())                                                               \
  TRAP("lead a session", SYS_setsid, setsid())                                                                        \
  TRAP("change priority", SYS_setpriority, setpriority(PRIO_PROCESS, 0, 0))                                           \
  TRAP("change the scheduler", SYS_sched_setscheduler, syscall(SYS_sched_setscheduler, 0, 0, page()))                 \
  TRAP("choose processors", SYS_sched_setaffinity, syscall(SYS_sched_setaffinity, 0, 0, NULL))                        \
  /* out of the sandbox */                                                                                            \
  TRAP("run memory by mprotect", SYS_mprotect, mprotect(page(), 4096, PROT_READ | PROT_EXEC))                         \
  TRAP("run memory by mmap", SYS_mmap, (long)mmap(NULL, 4096, PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))         \
  TRAP("share memory without a file", SYS_mmap, (long)mmap(NULL, 1, PROT_READ, MAP_SHARED | MAP_ANONYMOUS, -1, 0))    \
  TRAP("run memory by a key", SYS_pkey_mprotect, syscall(SYS_pkey_mprotect, page(), 4096, PROT_EXEC, -1))             \
  TRAP("poison memory", SYS_madvise, madvise(page(), 4096, MADV_HWPOISON))                                            \
  TRAP("handle SIGSYS", SYS_rt_sigaction, handle_signal())                                                            \
  OTHER("open with SIGSYS blocked", deed_killed, 0, open_with_signal_blocked())                                       \
  TRAP("load a filter", SYS_seccomp, syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, NULL))                          \
  TRAP("load a filter by prctl", SYS_prctl, syscall(SYS_prctl, PR_SET_SECCOMP, 2, NULL, 0, 0))                        \
  TRAP("show its memory", SYS_prctl, syscall(SYS_prctl, PR_SET_DUMPABLE, 1, 0, 0, 0))                                 \
  TRAP("outlive its parent", SYS_prctl, syscall(SYS_prctl, PR_SET_PDEATHSIG, 0, 0, 0, 0))                             \
  TRAP("change its personality", SYS_personality, syscall(SYS_personality, 0xFFFFFFFF))                               \
  TRAP("a call that does not exist", 1023, syscall(1023))                                                             \
  TRAP("requeue on a futex", SYS_futex, syscall(SYS_futex, page(), FUTEX_CMP_REQUEUE_PI, 0, 0, page(), 0))            \
  /* privileges and the machine */                                                                                    \
  TRAP("become another user", SYS_setuid, syscall(SYS_setuid, -1))                                                    \
  TRAP("become another group", SYS_setgid, syscall(SYS_setgid, -1))                                                   \
  TRAP("set groups", SYS_setgroups, syscall(SYS_setgroups, -1, NULL))                                                 \
  TRAP("set all user ids", SYS_setresuid, syscall(SYS_setresuid, -1, -1, -1))                                         \
  TRAP("take capabilities", SYS_capset, syscall(SYS_capset, NULL, NULL))                                              \
  TRAP("leave namespaces", SYS_unshare, unshare(0))                                                                   \
  TRAP("enter a namespace", SYS_setns, setns(0, 0))                                                                   \
  TRAP("mount", SYS_mount, syscall(SYS_mount, "none", "/nowhere/probe", "tmpfs", 0, NULL))                            \
  TRAP("unmount", SYS_umount2, syscall(SYS_umount2, "/nowhere/probe", 0))                                             \
  TRAP("mount by descriptor", SYS_move_mount, syscall(SYS_move_mount, 0, "", 0, "", 0))                               \
  TRAP("turn the root", SYS_pivot_root, syscall(SYS_pivot_root, "/nowhere", "/nowhere"))                              \
  TRAP("set the clock", SYS_clock_settime, syscall(SYS_clock_settime, -1, NULL))                                      \
  TRAP("turn the clock", SYS_clock_adjtime, syscall(SYS_clock_adjtime, -1, NULL))                                     \
  TRAP("set the time of day", SYS_settimeofday, syscall(SYS_settimeofday, NULL, NULL))                                \
  TRAP("adjust the time", SYS_adjtimex, syscall(SYS_adjtimex, NULL))                                                  \
  TRAP("name the machine", SYS_sethostname, syscall(SYS_sethostname, NULL, -1))                                       \
  TRAP("reboot", SYS_reboot, syscall(SYS_reboot, 0, 0, 0, NULL))                                                      \
  TRAP("load a module", SYS_finit_module, syscall(SYS_finit_module, -1, "", 0))                                       \
  TRAP("load a kernel", SYS_kexec_load, syscall(SYS_kexec_load, 0, 17, NULL, 0))                                      \
  TRAP("read the kernel's log", SYS_syslog, syscall(SYS_syslog, 10, NULL, 0))                                         \
  TRAP("swap", SYS_swapon, syscall(SYS_swapon, "/nowhere/probe", 0))                                                  \
  /* doors to the kernel with a history */                                                                            \
  TRAP("io_uring", SYS_io_uring_setup, syscall(SYS_io_uring_setup, 1, NULL))                                          \
  TRAP("bpf", SYS_bpf, syscall(SYS_bpf, -1, NULL, 0))                                                                 \
  TRAP("userfaultfd", SYS_userfaultfd, syscall(SYS_userfaultfd, 0))                                                   \
  TRAP("perf", SYS_perf_event_open, syscall(SYS_perf_event_open, NULL, 0, -1, -1, 0))                                 \
  TRAP("keyctl", SYS_keyctl, syscall(SYS_keyctl, 0, -3, 0))                                                           \
  TRAP("add a key", SYS_add_key, syscall(SYS_add_key, "user", "probe", "x", 1, 0))                                    \
  TRAP("request a key", SYS_request_key, syscall(SYS_request_key, "user", "probe", NULL, 0))                          \
  TRAP("inotify", SYS_inotify_init1, syscall(SYS_inotify_init1, 0))                                                   \
  TRAP("fanotify", SYS_fanotify_init, syscall(SYS_fanotify_init, 0, 0))                                               \
  TRAP("epoll", SYS_epoll_create1, syscall(SYS_epoll_create1, 0))                                                     \
  TRAP("a timer", SYS_timer_create, syscall(SYS_timer_create, CLOCK_MONOTONIC, NULL, page()))                         \
  TRAP("an alarm", SYS_setitimer, syscall(SYS_setitimer, ITIMER_REAL, page(), NULL))                                  \
  TRAP("shared memory", SYS_shmget, syscall(SYS_shmget, 0, 4096, 0600))                                               \
  TRAP("a queue of messages", SYS_msgget, syscall(SYS_msgget, 0, 0))                                                  \
  TRAP("a semaphore", SYS_semget, syscall(SYS_semget, 0, 0, 0))                                                       \
  /* what decoding needs */                                                                                           \
  OTHER("threads", deed_done, 0, threads())                                                                           \
  OTHER("many heaps", deed_done, 0, heaps())                                                                          \
  OTHER("much memory", deed_done, 0, memory())                                                                        \
  OTHER("limit its data", deed_done, 0, data_limit())                                                                 \
  OTHER("raise no limit", deed_done, 0, raise_data_limit())                                                           \
  OTHER("sort", deed_done, 0, sort())                                                                                 \
  OTHER("date", deed_done, 0, date())                                                                                 \
  OTHER("chance", deed_done, 0, chance())                                                                             \
  OTHER("print", deed_done, 0, print())                                                                               \
  OTHER("name a thread", deed_done, 0, name())                                                                        \
  OTHER("count processors", deed_done, 0, processors())                                                               \
  /* ends that stay what they are */                                                                                  \
  OTHER("abort", deed_ends, SIGABRT, (abort(), 0))                                                                    \
  OTHER("overwrite", deed_ends, SIGSEGV, overwrite())

#ifdef __x86_64__
#define DEEDS_OF_X86(TRAP, OTHER)                                                                                     \
  TRAP("open by the old call", SYS_open, syscall(SYS_open, "/etc/passwd", O_RDONLY))                                  \
  TRAP("fork by vfork", SYS_vfork, syscall(SYS_vfork))                                                                \
  TRAP("reach ports", SYS_iopl, syscall(SYS_iopl, -1))                                                                \
  TRAP("change segments", SYS_modify_ldt, syscall(SYS_modify_ldt, -1, NULL, 0))                                       \
  OTHER("open as x32 does", deed_killed, 0, syscall(0x40000000 | SYS_open, "/etc/passwd", O_RDONLY))                  \
  OTHER("call as 32 bits do", deed_killed, 0, open_as_32_bit())
#else
#define DEEDS_OF_X86(TRAP, OTHER)
#endif

#define ROW_TRAP(name, number, act) {name, deed_trapped, number},
#define ROW_OTHER(name, fate, number, act) {name, fate, number},
static const deed deeds[] = {DEEDS(ROW_TRAP, ROW_OTHER) DEEDS_OF_X86(ROW_TRAP, ROW_OTHER)};

size_t deed_count(void) { return sizeof deeds / sizeof deeds[0]; }
deed deed_at(size_t index) { return deeds[index]; }

#define DO_TRAP(name, number, act) DO_OTHER(name, 0, number, act)
#define DO_OTHER(name, fate, number, act) \
  if (index == next++) return act;

static long act(size_t index) {
  size_t next = 0;
  DEEDS(DO_TRAP, DO_OTHER)
  DEEDS_OF_X86(DO_TRAP, DO_OTHER)
  return -2;
}

long deed_do(size_t index, int *error) {
  errno = 0;
  long result = act(index);
  *error = errno;
  return result;
}
