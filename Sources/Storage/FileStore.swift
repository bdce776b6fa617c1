import CLinux
package import Core
import Glibc
package import Posix
import Synchronization

/// Keeps objects as files: `<root>/2026/11/30/<key>`, the digest beside the content in an extended attribute.
///
/// An object appears under its name whole or not at all: it is written to a file without a name, which the kernel
/// drops if anything fails or the machine stops, and is linked into place when it is safe on the disk. Where the file
/// system has no such files it is written in the folder `.parts`, and what was left there is removed at the next start.
package final class FileStore: ObjectStore {
    /// How a file comes to be before it has its name.
    enum Making: Sendable {
        /// O_TMPFILE, and by a name among the parts where the file system lacks it.
        case unnamed
        case hidden
    }

    static let digestAttribute = "user.safelight.sha256"
    /// What `probe` writes: more than a full file system can squeeze into an inode or a last block.
    private static let probeBytes = 64 * 1024
    /// Holds files on their way to their names.
    static let partsFolder = ".parts"
    /// A part as old as this belongs to nobody: other processes may be at work on the same store, none of them as long.
    static let stalePartSeconds = 3600

    private let root: Folder
    private let making: Making
    /// The date folder whose way from the root is known to be durable: today's, most of the time.
    private let durableFolder = Mutex<String?>(nil)

    /// Opens the store below `path`, which is made where it is missing.
    ///
    /// - Throws: `.unavailable`, `.full`.
    package static func opening(_ path: String) throws(StoreError) -> FileStore {
        try FileStore(path, making: .unnamed)
    }

    init(_ path: String, making: Making) throws(StoreError) {
        do {
            root = try Folder.opening(path)
            try FileStore.sweepParts(below: root)
        } catch {
            throw StoreError(error)
        }
        self.making = making
    }

    /// Removes what a process that was killed has left behind.
    private static func sweepParts(below root: borrowing Folder) throws(PosixError) {
        let parts: Folder
        do { parts = try root.openFolder([partsFolder]) } catch {
            if error.errno == ENOENT { return }
            throw error
        }
        let staleSeconds = Int(Clock.unixMs() / 1000) - stalePartSeconds
        for name in try parts.names() {
            // Another process may be sweeping too, and a store that is read-only for the moment may still be read.
            guard let part = try? parts.openFile(name), let status = try? part.status(),
                Int(status.st_mtim.tv_sec) < staleSeconds
            else { continue }
            try? parts.unlink(name)
        }
    }

    package func put(_ key: ObjectKey, _ object: SealedFile, sha256: SHA256Digest) throws(StoreError) {
        do {
            let folder = try openFolderForPut(key)
            switch making {
            case .hidden: try putHidden(key, object, sha256, in: folder)
            case .unnamed:
                do { try putUnnamed(key, object, sha256, in: folder) } catch  where FileStore.isUnsupported(error) {
                    try putHidden(key, object, sha256, in: folder)
                }
            }
        } catch {
            throw StoreError(error)
        }
    }

    package func get(_ key: ObjectKey) throws(StoreError) -> StoredObject? {
        do {
            let file = try root.openFolder(FileStore.folders(of: key)).openFile(key.text)
            let status = try file.status()
            guard status.st_mode & S_IFMT == S_IFREG else { return nil }
            let count = Int(status.st_size)
            let digest = try FileStore.readDigest(of: file, count: count)
            return StoredObject(
                content: file, count: count, sha256: digest,
                storedAt: UTCTime(clampingSeconds: Int(status.st_mtim.tv_sec)))
        } catch  where error.errno == ENOENT {
            return nil
        } catch {
            throw StoreError(error)
        }
    }

    package func delete(_ key: ObjectKey) throws(StoreError) -> Bool {
        do {
            let folder = try root.openFolder(FileStore.folders(of: key))
            try folder.unlink(key.text)
            // What was reported as gone must not come back after a loss of power.
            try folder.sync()
            return true
        } catch  where error.errno == ENOENT {
            return false
        } catch {
            throw StoreError(error)
        }
    }

    package func probe() throws(StoreError) {
        let bytes = [UInt8](repeating: 0, count: FileStore.probeBytes)
        do {
            switch making {
            case .hidden: try probeHidden(bytes)
            case .unnamed:
                do { try probeUnnamed(bytes) } catch  where FileStore.isUnsupported(error) { try probeHidden(bytes) }
            }
        } catch {
            throw StoreError(error)
        }
    }

    // MARK: - Writing

    private func putUnnamed(
        _ key: ObjectKey, _ object: SealedFile, _ sha256: SHA256Digest, in folder: borrowing Folder
    ) throws(PosixError) {
        let file = try folder.makeUnnamedFile()
        try FileStore.fill(file, object, sha256)
        try folder.link(file, as: key.text)
        try FileStore.syncName(key, of: file, in: folder)
    }

    private func putHidden(
        _ key: ObjectKey, _ object: SealedFile, _ sha256: SHA256Digest, in folder: borrowing Folder
    ) throws(PosixError) {
        let parts = try root.makeFolder(FileStore.partsFolder)
        let file = try parts.makeFile(key.text)
        defer { try? parts.unlink(key.text) }
        try FileStore.fill(file, object, sha256)
        try folder.link(key.text, in: parts, as: key.text)
        try FileStore.syncName(key, of: file, in: folder)
    }

    /// Takes the steps of a put, but for those that make it last.
    private func probeUnnamed(_ bytes: [UInt8]) throws(PosixError) {
        let file = try root.makeUnnamedFile()
        try file.writeAll(bytes)
        let parts = try root.makeFolder(FileStore.partsFolder)
        let name = FileStore.probeName()
        try parts.link(file, as: name)
        try parts.unlink(name)
    }

    private func probeHidden(_ bytes: [UInt8]) throws(PosixError) {
        let parts = try root.makeFolder(FileStore.partsFolder)
        let name = FileStore.probeName()
        let file = try parts.makeFile(name)
        defer { try? parts.unlink(name) }
        try file.writeAll(bytes)
        let link = FileStore.probeName()
        try parts.link(name, in: parts, as: link)
        try parts.unlink(link)
    }

    private static func probeName() -> String { "probe-\(UInt64.random(in: 0 ... .max))" }

    /// Content and attribute first, and on the disk before the file has a name: after a loss of power a name without
    /// its content must not be there.
    private static func fill(
        _ file: borrowing Descriptor, _ object: SealedFile, _ sha256: SHA256Digest
    ) throws(PosixError) {
        try object.withBytes { bytes throws(PosixError) in try file.writeAllDirectly(bytes) }
        try writeDigest(sha256, to: file)
        try file.sync()
    }

    /// The name last: only after this may the caller be told. A name that cannot be synced is taken back, since the caller
    /// will hear that nothing was stored.
    ///
    /// That it has a name at all stands in the file, and file systems without a journal (ext2, ext4 at choice) write that
    /// with the file alone: after a loss of power they would take it for a deleted one.
    private static func syncName(
        _ key: ObjectKey, of file: borrowing Descriptor, in folder: borrowing Folder
    ) throws(PosixError) {
        do {
            try file.sync()
            try folder.sync()
        } catch {
            try? folder.unlink(key.text)
            throw error
        }
    }

    /// The key's date folder, with every folder on the way to it durable.
    private func openFolderForPut(_ key: ObjectKey) throws(PosixError) -> Folder {
        let path = key.dateFolder
        let names = FileStore.folders(of: key)
        if durableFolder.withLock({ $0 == path }) {
            do { return try root.openFolder(names) } catch  where error.errno == ENOENT {
                // Somebody removed it; the long way makes it again.
            }
        }
        let folder = try root.descend(names)
        durableFolder.withLock { $0 = path }
        return folder
    }

    // MARK: - The digest

    private static func writeDigest(_ digest: SHA256Digest, to file: borrowing Descriptor) throws(PosixError) {
        let raw = file.raw
        let text = Array(digest.hex.utf8)
        do { try syscall("fsetxattr") { clinux_fsetxattr(raw, digestAttribute, text, text.count) } } catch {
            // A file system that takes no attributes, however it puts that: `get` computes the digest instead.
            if error.errno == ENOSPC || error.errno == EDQUOT { throw error }
        }
    }

    private static func readDigest(of file: borrowing Descriptor, count: Int) throws(PosixError) -> SHA256Digest {
        var text = [UInt8](repeating: 0, count: 2 * SHA256Digest.count)
        let length = clinux_fgetxattr(file.raw, digestAttribute, &text, text.count)
        if length == text.count, let digest = SHA256Digest(hex: text) { return digest }
        return try computeDigest(of: file, count: count)
    }

    private static func computeDigest(of file: borrowing Descriptor, count: Int) throws(PosixError) -> SHA256Digest {
        var hash = SHA256()
        try file.readPieces(0..<count) { piece in hash.update(piece) }
        return hash.finish()
    }

    // MARK: - Small things

    /// The folders from the root to the key's file.
    private static func folders(of key: ObjectKey) -> [String] { key.dateFolder.split(separator: "/").map(String.init) }

    /// How kernels and file systems say that they have no O_TMPFILE (open(2)); ENOENT comes from linking where /proc is
    /// not mounted.
    private static func isUnsupported(_ error: PosixError) -> Bool {
        switch error.call {
        case "open(O_TMPFILE)": [EOPNOTSUPP, EISDIR, EINVAL, ENOSYS].contains(error.errno)
        case "linkat": [ENOENT, EPERM, EOPNOTSUPP].contains(error.errno)
        default: false
        }
    }
}

extension StoreError {
    fileprivate init(_ error: PosixError) {
        switch error.errno {
        case EEXIST: self = .exists
        case ENOSPC, EDQUOT, EFBIG: self = .full(diagnosis: error.description)
        default: self = .unavailable(diagnosis: error.description)
        }
    }
}
