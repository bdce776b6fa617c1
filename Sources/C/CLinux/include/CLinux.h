/* What Linux has and Swift's Glibc module does not show. Each function is one system call or one macro. */
#pragma once
#include <signal.h>
#include <spawn.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* An anonymous file in memory that can be sealed, close-on-exec; -1 and errno. */
int clinux_memfd_create(const char *name);
/* Forbids every later change of the file's bytes and size, and of the seals; -1 and errno. */
int clinux_seal(int fd);
/* Whether the file carries all seals of clinux_seal; -1 and errno. */
int clinux_is_sealed(int fd);

/* A nameless file in `folder`, to be named by clinux_link_unnamed or to vanish; -1 and errno (O_TMPFILE). */
int clinux_open_unnamed(int folder, mode_t mode);
/* Gives an unnamed file its name; EEXIST where the name is taken; -1 and errno. */
int clinux_link_unnamed(int fd, int folder, const char *name);
/* Whether writes go past the page cache (O_DIRECT) from now on; -1 and errno, EINVAL where the file system cannot. */
int clinux_set_direct(int fd, int is_direct);

/* Sends one message with descriptors beside it; bytes sent, or -1 and errno. Never raises SIGPIPE and never waits:
 * EAGAIN where the peer leaves its messages unread. */
ssize_t clinux_send(int socket, const void *bytes, size_t count, const int *descriptors, size_t descriptor_count);
/* Receives one message and up to `*descriptor_count` descriptors, close-on-exec; sets `*descriptor_count`.
 * Bytes received, 0 at the end, or -1 and errno; EMSGSIZE where bytes or descriptors were cut (none are left open). */
ssize_t clinux_receive(int socket, void *bytes, size_t capacity, int *descriptors, size_t *descriptor_count);

/* How far a TCP connection has come: bytes that came in, bytes of ours that the peer's kernel took (0 where this kernel
 * does not count), whether the peer will send no more, whether the connection was reset. 0, or -1 and errno. */
int clinux_tcp_progress(
    int socket, uint64_t *received, uint64_t *acknowledged, int *peer_closed, int *is_reset);

/* A counter that polls as readable while above 0; read(2) takes one from it, and waits at 0; -1 and errno. */
int clinux_eventfd(void);

/* A descriptor that polls as readable once the process has ended; -1 and errno. */
int clinux_pidfd_open(pid_t pid);
/* Closes every descriptor from `first` on in the child. */
int clinux_spawn_closefrom(posix_spawn_file_actions_t *actions, int first);
/* The flag of posix_spawnattr_setflags that starts the child in a session of its own. */
int clinux_spawn_setsid(void);
/* Names the calling thread in ps and gdb; at most 15 characters count. */
void clinux_name_thread(const char *name);
/* This process gets `signal` when its parent's spawning thread ends. */
int clinux_set_parent_death_signal(int signal);

/* Whether a signal is ignored. */
int clinux_is_ignored(int signal);

/* An extended attribute of an open file, written and read: 0, or the bytes read; -1 and errno. */
int clinux_fsetxattr(int fd, const char *name, const void *value, size_t size);
ssize_t clinux_fgetxattr(int fd, const char *name, void *value, size_t size);

/* The status of an open file, a `struct stat`, by fstat(2) itself: glibc before 2.39 calls newfstatat, which takes a
 * path and so is nothing for a sandbox. 0, or -1 and errno. */
int clinux_fstat(int fd, void *status);

/* What a process gives up for good; 0, or -1 and errno.
 * Whatever it executes later gets no more privileges than it has. */
int clinux_forgo_privileges(void);
/* All capabilities of the calling thread, which root has. */
int clinux_drop_capabilities(void);
/* That other processes of its user can look into it; and core dumps. */
int clinux_hide_memory(void);
/* Every descriptor from `first` on. */
int clinux_close_from(int first);

/* Whether the kernel can stop system calls by a filter and SIGSYS (seccomp). */
int clinux_can_trap_calls(void);
/* A system call that a filter stops sends `mark` and its number, four bytes in the machine's order, on `socket`, and
 * ends the process by SIGSYS. 0, or -1 and errno. */
int clinux_tell_trapped_calls(int socket, uint8_t mark);
/* Arguments of system calls: F_GET_SEALS of fcntl, PR_SET_NAME of prctl, what glibc's threads are made with by
 * clone. */
int clinux_get_seals(void);
int clinux_set_name(void);
uint64_t clinux_thread_flags(void);

/* At most `count` pools of malloc, two or more, however many threads there are: each keeps what it was ever grown to.
 * Also has glibc do what it does once in a process: install a handler at the first thread, and read
 * /proc/sys/vm/overcommit_memory when a thread's pool shrinks for the first time (malloc/arena.c), which takes more
 * memory later, as its thresholds grow. 0 or an error. */
int clinux_limit_heaps(int count);
/* From now on malloc hands out zeros and free overwrites, in the whole process (glibc's M_PERTURB; pieces up to 1 KiB
 * that were in use before are left out, since a thread's cache of them knows no such thing). */
void clinux_wipe_heap(void);

/* How a process ended: wait-status macros. */
int clinux_exited(int status);
int clinux_exit_code(int status);
int clinux_term_signal(int status);
