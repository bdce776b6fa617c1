import CLinux
import Glibc
import Posix

/// Owns an open directory. Everything below it is reached through the descriptor, so it stays the same directory
/// wherever its path may lead later.
struct Folder: ~Copyable {
    private static let mode: mode_t = 0o750
    private static let fileMode: mode_t = 0o640

    private let descriptor: Descriptor

    private init(adopting descriptor: consuming Descriptor) { self.descriptor = descriptor }

    /// Opens the directory at `path`, which may be relative, after making it and its parents where they are missing.
    static func opening(_ path: String) throws(PosixError) -> Folder {
        do { return Folder(adopting: try Descriptor.open(path, O_RDONLY | O_DIRECTORY)) } catch {
            guard error.errno == ENOENT else { throw error }
        }
        let names = path.split(separator: "/")
        guard let name = names.last else { throw PosixError(call: "open", errno: ENOENT) }
        let parent = (path.hasPrefix("/") ? "/" : "./") + names.dropLast().joined(separator: "/")
        // The path itself may lead over links: that is its owner's arrangement. Below the root there are none.
        return try opening(parent).descend([String(name)], followingLinks: true)
    }

    /// The folder at the end of `names`, each made where missing, and each synced into its parent: also one that was
    /// there, since another thread may have made it a moment ago and not have synced it yet.
    borrowing func descend(_ names: [String], followingLinks: Bool = false) throws(PosixError) -> Folder {
        var current = Folder(adopting: try descriptor.duplicate())
        for name in names {
            try current.makeMissing(name)
            let next = try current.openFolder(name, followingLinks: followingLinks)
            try current.sync()
            current = next
        }
        return current
    }

    /// The folder at the end of `names`, one below the other; ENOENT where one is missing. Step by step, for the kernel
    /// would follow links in the middle of a path.
    borrowing func openFolder(_ names: [String]) throws(PosixError) -> Folder {
        var current = Folder(adopting: try descriptor.duplicate())
        for name in names { current = try current.openFolder(name, followingLinks: false) }
        return current
    }

    private borrowing func openFolder(_ name: String, followingLinks: Bool) throws(PosixError) -> Folder {
        Folder(adopting: try open(name, O_RDONLY | O_DIRECTORY | (followingLinks ? 0 : O_NOFOLLOW)))
    }

    /// The file `name` in this folder, to be read; ENOENT where it is missing.
    borrowing func openFile(_ name: String) throws(PosixError) -> Descriptor {
        // Without O_NONBLOCK a FIFO put there by somebody would hold the thread for ever.
        try open(name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
    }

    /// A new file that has no name yet and vanishes with its descriptor.
    borrowing func makeUnnamedFile() throws(PosixError) -> Descriptor {
        let raw = descriptor.raw
        return Descriptor(adopting: try syscall("open(O_TMPFILE)") { clinux_open_unnamed(raw, Folder.fileMode) })
    }

    borrowing func makeFile(_ name: String) throws(PosixError) -> Descriptor {
        try open(name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW)
    }

    /// Gives an unnamed file its name; EEXIST where it is taken.
    borrowing func link(_ file: borrowing Descriptor, as name: String) throws(PosixError) {
        let raw = descriptor.raw
        let source = file.raw
        try syscall("linkat") { clinux_link_unnamed(source, raw, name) }
    }

    /// Gives a file of another folder a second name here; EEXIST where it is taken.
    borrowing func link(_ existing: String, in other: borrowing Folder, as name: String) throws(PosixError) {
        let raw = descriptor.raw
        let source = other.descriptor.raw
        try syscall("linkat") { linkat(source, existing, raw, name, 0) }
    }

    /// The names of what is in the folder, but for its own and its parent's.
    borrowing func names() throws(PosixError) -> [String] {
        // The stream takes over its descriptor, and with it a position of its own.
        let raw = try open(".", O_RDONLY | O_DIRECTORY).release()
        guard let stream = fdopendir(raw) else {
            let error = PosixError(call: "fdopendir", errno: errno)
            _ = Descriptor(adopting: raw)
            throw error
        }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names
    }

    /// The folder `name` in this one, made where it is missing; not made durable.
    borrowing func makeFolder(_ name: String) throws(PosixError) -> Folder {
        try makeMissing(name)
        return try openFolder(name, followingLinks: false)
    }

    borrowing func unlink(_ name: String) throws(PosixError) {
        let raw = descriptor.raw
        try syscall("unlinkat") { unlinkat(raw, name, 0) }
    }

    /// Makes the folder's entries durable.
    borrowing func sync() throws(PosixError) {
        let raw = descriptor.raw
        do { try syscall("fsync(folder)") { fsync(raw) } } catch {
            // Some file systems (FUSE, CIFS) have no such operation: their entries are durable when made, or never.
            if error.errno != EINVAL, error.errno != EOPNOTSUPP { throw error }
        }
    }

    /// Makes the folder unless it is there.
    private borrowing func makeMissing(_ name: String) throws(PosixError) {
        let raw = descriptor.raw
        do { try syscall("mkdirat") { mkdirat(raw, name, Folder.mode) } } catch {
            if error.errno != EEXIST { throw error }
        }
    }

    private borrowing func open(_ name: String, _ flags: Int32) throws(PosixError) -> Descriptor {
        let raw = descriptor.raw
        return Descriptor(
            adopting: try syscall("openat") { openat(raw, name, flags | O_CLOEXEC, Folder.fileMode) })
    }
}
