package import Core
package import Posix
import Synchronization

/// Keeps objects for the life of the process: for tests, and as the shortest statement of what a store does.
package final class MemoryStore: ObjectStore {
    private struct Entry {
        let object: SealedFile
        let sha256: SHA256Digest
        let storedAt: UTCTime
    }

    private struct State {
        var entries: [ObjectKey: Entry] = [:]
        var bytesLeft: Int
    }

    private let state: Mutex<State>

    /// - Parameter bytesMax: how many bytes it holds before it is full.
    package init(bytesMax: Int = .max) { state = Mutex(State(bytesLeft: bytesMax)) }

    /// Of what is stored.
    package var keys: Set<ObjectKey> { state.withLock { Set($0.entries.keys) } }

    package func put(_ key: ObjectKey, _ object: SealedFile, sha256: SHA256Digest) throws(StoreError) {
        let now = UTCTime(milliseconds: Clock.unixMs())
        try state.withLock { state throws(StoreError) in
            guard state.entries[key] == nil else { throw .exists }
            guard object.count <= state.bytesLeft else { throw .full(diagnosis: "\(state.bytesLeft) bytes left") }
            state.bytesLeft -= object.count
            state.entries[key] = Entry(object: object, sha256: sha256, storedAt: now)
        }
    }

    package func get(_ key: ObjectKey) throws(StoreError) -> StoredObject? {
        guard let entry = state.withLock({ $0.entries[key] }) else { return nil }
        do {
            return StoredObject(
                content: try entry.object.descriptor.duplicate(), count: entry.object.count, sha256: entry.sha256,
                storedAt: entry.storedAt)
        } catch {
            throw .unavailable(diagnosis: error.description)
        }
    }

    package func delete(_ key: ObjectKey) throws(StoreError) -> Bool {
        state.withLock { state in
            guard let entry = state.entries.removeValue(forKey: key) else { return false }
            state.bytesLeft += entry.object.count
            return true
        }
    }

    package func probe() throws(StoreError) {
        try state.withLock { state throws(StoreError) in
            if state.bytesLeft <= 0 { throw .full(diagnosis: "no bytes left") }
        }
    }
}
