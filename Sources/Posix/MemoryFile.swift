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

    package borrowing func append(_ bytes: UnsafeRawBufferPointer) throws(PosixError) {
        try descriptor.writeAll(bytes)
    }

    /// Forbids every later change, by whoever holds the file. Fails with EBUSY while a writable mapping exists.
    ///
    /// - Parameter companion: what lives as long as the file in this process, such as the account of its memory.
    package consuming func seal(keeping companion: (any Sendable)? = nil) throws(PosixError) -> SealedFile {
        let raw = descriptor.raw
        try syscall("fcntl(F_ADD_SEALS)") { clinux_seal(raw) }
        let size = try descriptor.size()
        return SealedFile(adopting: descriptor, count: size, keeping: companion)
    }
}

/// A memory file that can change no more: safe to map, to share between threads and to hand to other processes.
package final class SealedFile: Sendable {
    package let descriptor: Descriptor
    package let count: Int
    private let companion: (any Sendable)?

    fileprivate init(adopting descriptor: consuming Descriptor, count: Int, keeping companion: (any Sendable)? = nil) {
        self.descriptor = descriptor
        self.count = count
        self.companion = companion
    }

    /// Takes over a file that another process sent.
    ///
    /// - Throws: EINVAL where it is not sealed, and so could shrink below a mapping.
    package static func received(_ descriptor: consuming Descriptor) throws(PosixError) -> SealedFile {
        let raw = descriptor.raw
        let isSealed = try syscall("fcntl(F_GET_SEALS)") { clinux_is_sealed(raw) }
        guard isSealed == 1 else { throw PosixError(call: "fcntl(F_GET_SEALS)", errno: EINVAL) }
        let count = try descriptor.size()
        return SealedFile(adopting: descriptor, count: count)
    }

    /// A sealed file with these bytes.
    package static func holding(_ bytes: [UInt8], name: String) throws(PosixError) -> SealedFile {
        let file = try MemoryFile(name: name)
        try file.descriptor.writeAll(bytes)
        return try file.seal()
    }

    /// Maps the bytes for the length of `body`, their pages at once: nearly all readers touch all of them, and a kernel
    /// that is told to write from pages that are not there zeroes the target first (Linux 6.15 and later).
    package func withBytes<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        guard count > 0 else { return try body(UnsafeRawBufferPointer(start: nil, count: 0)) }
        let mapping = mmap(nil, count, PROT_READ, MAP_SHARED | MAP_POPULATE, descriptor.raw, 0)
        guard let mapping, mapping != MAP_FAILED else { fatalError("no address space to map \(count) bytes") }
        defer { munmap(mapping, count) }
        return try body(UnsafeRawBufferPointer(start: mapping, count: count))
    }
}
