import CLinux
package import Glibc

/// Owns one file descriptor; closes it at the end of its life.
package struct Descriptor: ~Copyable, Sendable {
    package let raw: Int32

    package init(adopting raw: Int32) {
        precondition(raw >= 0)
        self.raw = raw
    }

    deinit { Glibc.close(raw) }

    /// Opens `path` with O_CLOEXEC added to `flags`.
    package static func open(_ path: String, _ flags: Int32, mode: UInt32 = 0) throws(PosixError) -> Descriptor {
        Descriptor(adopting: try syscall("open") { Glibc.open(path, flags | O_CLOEXEC, mode) })
    }

    /// Another descriptor of the same open file, with the same position.
    package borrowing func duplicate() throws(PosixError) -> Descriptor {
        let raw = raw
        return Descriptor(adopting: try syscall("fcntl") { fcntl(raw, F_DUPFD_CLOEXEC, 3) })
    }

    /// Gives the descriptor away unclosed.
    package consuming func release() -> Int32 {
        let raw = raw
        discard self
        return raw
    }

    /// Closes and tells what the kernel said, for files whose loss matters.
    package consuming func close() throws(PosixError) {
        let raw = release()
        // On Linux the descriptor is gone even after EINTR: never again.
        if Glibc.close(raw) != 0, errno != EINTR { throw PosixError(call: "close", errno: errno) }
    }

    /// What fstat(2) tells of the file.
    package borrowing func status() throws(PosixError) -> stat {
        let raw = raw
        var status = stat()
        try syscall("fstat") { clinux_fstat(raw, &status) }
        return status
    }

    /// The file's size in bytes.
    package borrowing func size() throws(PosixError) -> Int { Int(try status().st_size) }

    /// Writes all of `bytes`, in as many calls as that takes.
    package borrowing func writeAll(_ bytes: [UInt8]) throws(PosixError) {
        try bytes.withUnsafeBufferPointer { bytes throws(PosixError) in try writeAll(UnsafeRawBufferPointer(bytes)) }
    }

    /// Writes all of `bytes`, in as many calls as that takes.
    package borrowing func writeAll(_ bytes: UnsafeRawBufferPointer) throws(PosixError) {
        let raw = raw
        var rest = bytes
        while !rest.isEmpty {
            let written = try syscall("write") { Glibc.write(raw, rest.baseAddress, rest.count) }
            rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(written))
        }
    }

    /// Writes all of `bytes`, past the page cache where the file system can: for what is synced at once, and read much
    /// later. A copy there would cost the processor more than the rest of the writing, and push out what is read.
    ///
    /// - Parameter bytes: at the beginning of a page of memory, to be written at the beginning of a block; what is not is
    ///   written as usual, and so is the end that fills no page.
    package borrowing func writeAllDirectly(_ bytes: UnsafeRawBufferPointer) throws(PosixError) {
        let raw = raw
        var rest = bytes
        if clinux_set_direct(raw, 1) == 0 {
            while rest.count >= Self.pageBytes {
                let whole = rest.count - rest.count % Self.pageBytes
                // A file system that does not like it here either says so, or fails again below, in its own words.
                let written = Glibc.write(raw, rest.baseAddress, whole)
                guard written > 0 else { break }
                rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(written))
            }
            try syscall("fcntl(F_SETFL)") { clinux_set_direct(raw, 0) }
        }
        try writeAll(rest)
    }

    /// Returns when content and attributes are on the disk (fsync(2)).
    package borrowing func sync() throws(PosixError) {
        let raw = raw
        try syscall("fsync") { fsync(raw) }
    }

    /// A multiple of every block that a disk is likely to have.
    private static let pageBytes = 4096

    /// Where the next read or write takes place.
    package borrowing func position() throws(PosixError) -> Int {
        let raw = raw
        return Int(try syscall("lseek") { lseek(raw, 0, SEEK_CUR) })
    }

    /// Cuts a file off at `position` and goes on there.
    package borrowing func rewind(to position: Int) throws(PosixError) {
        let raw = raw
        try syscall("ftruncate") { ftruncate(raw, position) }
        _ = try syscall("lseek") { lseek(raw, position, SEEK_SET) }
    }

    /// Reads into `buffer` once; the count, 0 at the end.
    package borrowing func read(into buffer: UnsafeMutableRawBufferPointer) throws(PosixError) -> Int {
        let raw = raw
        return try syscall("read") { Glibc.read(raw, buffer.baseAddress, buffer.count) }
    }
}
