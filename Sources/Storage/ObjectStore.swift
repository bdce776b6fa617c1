package import Core
import Glibc
package import Posix

/// Where finished pictures are kept. All calls block, so they belong on threads that may; all may be made at once from
/// several threads.
package protocol ObjectStore: Sendable {
    /// Keeps `object` under `key`. When this returns, the object outlives a loss of power; when it throws, nothing of
    /// it is left.
    ///
    /// - Throws: `.exists` where the key is taken (the object there is untouched), `.full`, `.unavailable`.
    func put(_ key: ObjectKey, _ object: SealedFile, sha256: SHA256Digest) throws(StoreError)

    /// The object under `key`, or nil where there is none.
    ///
    /// - Throws: `.unavailable`.
    func get(_ key: ObjectKey) throws(StoreError) -> StoredObject?

    /// Removes the object under `key`, durably; false where there was none.
    ///
    /// - Throws: `.unavailable`.
    func delete(_ key: ObjectKey) throws(StoreError) -> Bool

    /// Finds out whether an object could be put now.
    ///
    /// - Throws: `.full`, `.unavailable`.
    func probe() throws(StoreError)
}

/// An object that was found: open, so that it can be read to its end even if it is deleted meanwhile.
package final class StoredObject: Sendable {
    /// For reading at offsets; its own position means nothing.
    package let content: Descriptor
    /// Bytes of the object.
    package let count: Int
    package let sha256: SHA256Digest
    /// When it was put, to the resolution of the store.
    package let storedAt: UTCTime

    package init(content: consuming Descriptor, count: Int, sha256: SHA256Digest, storedAt: UTCTime) {
        self.content = content
        self.count = count
        self.sha256 = sha256
        self.storedAt = storedAt
    }

    /// A stretch of it in memory, for those who must not wait for a disk.
    ///
    /// - Throws: `.unavailable`.
    package func read(_ range: Range<Int>) throws(StoreError) -> SealedFile {
        do {
            let copy = try MemoryFile(name: "stored")
            try content.readPieces(range) { piece throws(PosixError) in try copy.append(piece) }
            return try copy.seal()
        } catch {
            throw .unavailable(diagnosis: error.description)
        }
    }
}

extension Descriptor {
    /// Calls `body` with one piece of a file after the other.
    ///
    /// - Throws: EIO where the file ends before the range does: somebody else writes there.
    borrowing func readPieces(
        _ range: Range<Int>, _ body: (UnsafeRawBufferPointer) throws(PosixError) -> Void
    ) throws(PosixError) {
        var buffer = [UInt8](repeating: 0, count: min(range.count, 256 * 1024))
        var offset = range.lowerBound
        let raw = raw
        while offset < range.upperBound {
            let capacity = min(buffer.count, range.upperBound - offset)
            let got = try syscall("pread") { pread(raw, &buffer, capacity, off_t(offset)) }
            guard got > 0 else { throw PosixError(call: "pread", errno: EIO) }
            try buffer.withUnsafeBufferPointer { bytes throws(PosixError) in
                try body(UnsafeRawBufferPointer(UnsafeBufferPointer(rebasing: bytes.prefix(got))))
            }
            offset += got
        }
    }
}

/// Why a store could not do what it was asked. The texts are for the log.
package enum StoreError: Error, Sendable, Equatable {
    /// The key is taken.
    case exists
    /// No room: for the store's owner to make some.
    case full(diagnosis: String)
    /// Read-only, forbidden, broken or not to be reached.
    case unavailable(diagnosis: String)
}

extension StoreError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .exists: "the key is taken"
        case .full(let diagnosis): "no room: \(diagnosis)"
        case .unavailable(let diagnosis): diagnosis
        }
    }
}
