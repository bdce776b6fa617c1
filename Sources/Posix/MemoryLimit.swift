import CLinux
import Glibc

/// Bounds what this process can allocate, so that no library takes what its caller did not plan for.
package enum MemoryLimit {
    /// From now on the process cannot have more than `bytes` of writable memory of its own: heap, stacks of threads
    /// (RLIMIT_DATA). Shared files do not count. What is already held stays; more is refused to malloc.
    ///
    /// It is for good: a later call may only lower it.
    package static func set(_ bytes: Int) throws(PosixError) {
        let resource = __rlimit_resource_t(RLIMIT_DATA.rawValue)
        var limit = rlimit()
        try syscall("getrlimit") { getrlimit(resource, &limit) }
        limit.rlim_max = min(rlim_t(bytes), limit.rlim_max)
        limit.rlim_cur = limit.rlim_max
        try syscall("setrlimit") { setrlimit(resource, &limit) }
    }

    /// From now on malloc has at most `count` pools, and not eight for each processor: what one was ever grown to it
    /// largely keeps. Also has glibc read what threads' memory takes, so that later no file is opened for it.
    ///
    /// To be called first of all, before threads are made and much memory is freed.
    ///
    /// - Parameter count: 2 or more.
    package static func limitHeaps(_ count: Int32) throws(PosixError) {
        precondition(count >= 2)
        let error = clinux_limit_heaps(count)
        if error != 0 { throw PosixError(call: "pthread_create", errno: error) }
    }
}
