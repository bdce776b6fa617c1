import CLinux
import Glibc

/// An anonymous file in memory that is being filled: a request's body, or what a worker writes.
///
/// Its pages belong to no process, so they cross to a worker by descriptor, and never touch a disk.
package struct MemoryFile: ~Copyable, Sendable {
    package let descriptor: Descriptor

    /// - Parameter name: seen in /proc, for people.
    package init(name: String) throws(PosixError) {
        descriptor = Descriptor(adopting: try syscall("memfd_create") { clinux_memfd_create(name) })
    }

    /// - Throws: ENOSPC or ENOMEM where there is no memory left.
    package borrowing func append(_ bytes: UnsafeRawBufferPointer) throws(PosixError) {
        try descriptor.writeAll(bytes)
    }

    /// Forbids every later change, by whoever holds the file, and maps it.
    ///
    /// - Parameters:
    ///   - companion: what lives as long as the file in this process, such as the account of its memory.
    ///   - bytesMax: how many bytes it may have to be mapped.
    /// - Throws: EBUSY while somebody has a writable mapping of it; EFBIG; what else the kernel refuses.
    package consuming func seal(
        keeping companion: (any Sendable)? = nil, bytesMax: Int = .max
    ) throws(PosixError) -> SealedFile {
        let raw = descriptor.raw
        try syscall("fcntl(F_ADD_SEALS)") { clinux_seal(raw) }
        let count = try descriptor.size()
        guard count <= bytesMax else { throw PosixError(call: "seal", errno: EFBIG) }
        return try SealedFile(adopting: descriptor, count: count, keeping: companion)
    }
}

/// A memory file that can change no more, mapped: safe to share between threads and to hand to other processes.
package final class SealedFile: Sendable {
    package let descriptor: Descriptor
    package let count: Int
    /// Only ever read; the seals keep the file from shrinking below it.
    private nonisolated(unsafe) let mapping: UnsafeRawBufferPointer
    private let companion: (any Sendable)?

    /// Maps the pages at once: nearly all readers touch all of them, and a kernel that is told to write from pages that
    /// are not there zeroes the target first (Linux 6.15 and later). As a private mapping: before 6.7 the kernel refuses
    /// a shared one of what is sealed against writing, even to read (EPERM).
    fileprivate init(
        adopting descriptor: consuming Descriptor, count: Int, keeping companion: (any Sendable)? = nil
    ) throws(PosixError) {
        var start: UnsafeMutableRawPointer?
        if count > 0 {
            start = mmap(nil, count, PROT_READ, MAP_PRIVATE | MAP_POPULATE, descriptor.raw, 0)
            if start == MAP_FAILED { throw PosixError(call: "mmap", errno: errno) }
        }
        mapping = UnsafeRawBufferPointer(start: start, count: count)
        self.count = count
        self.descriptor = descriptor
        self.companion = companion
    }

    deinit { if count > 0 { munmap(UnsafeMutableRawPointer(mutating: mapping.baseAddress), count) } }

    /// Takes over a file that another process sent.
    ///
    /// - Throws: EINVAL where it is not sealed, and so could shrink below the mapping.
    package static func received(_ descriptor: consuming Descriptor) throws(PosixError) -> SealedFile {
        let raw = descriptor.raw
        let isSealed = try syscall("fcntl(F_GET_SEALS)") { clinux_is_sealed(raw) }
        guard isSealed == 1 else { throw PosixError(call: "fcntl(F_GET_SEALS)", errno: EINVAL) }
        let count = try descriptor.size()
        return try SealedFile(adopting: descriptor, count: count)
    }

    /// A sealed file with these bytes.
    package static func holding(_ bytes: [UInt8], name: String) throws(PosixError) -> SealedFile {
        let file = try MemoryFile(name: name)
        try file.descriptor.writeAll(bytes)
        return try file.seal()
    }

    /// The bytes, for the length of `body`.
    package func withBytes<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try withExtendedLifetime(self) { () throws(Failure) in try body(mapping) }
    }
}
