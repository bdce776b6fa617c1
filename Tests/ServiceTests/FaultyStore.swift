import Core
import Glibc
import Posix
import Storage
import Synchronization

/// A store whose calls do not come back for a while.
final class HangingStore: ObjectStore {
    private let store: MemoryStore
    private let isHanging = Atomic(false)
    private let hangsInPuts = Atomic(false)
    private let puts = Atomic(0)

    init(_ store: MemoryStore) { self.store = store }

    func hang() { isHanging.store(true, ordering: .relaxed) }

    func hangInPuts() { hangsInPuts.store(true, ordering: .relaxed) }

    func comeBack() {
        isHanging.store(false, ordering: .relaxed)
        hangsInPuts.store(false, ordering: .relaxed)
    }

    /// Puts that have begun.
    var putCount: Int { puts.load(ordering: .relaxed) }

    private func pass() { while isHanging.load(ordering: .relaxed) { usleep(2000) } }

    func put(_ key: ObjectKey, _ object: SealedFile, sha256: SHA256Digest) throws(StoreError) {
        puts.add(1, ordering: .relaxed)
        while hangsInPuts.load(ordering: .relaxed) { usleep(2000) }
        pass()
        try store.put(key, object, sha256: sha256)
    }

    func get(_ key: ObjectKey) throws(StoreError) -> StoredObject? {
        pass()
        return try store.get(key)
    }

    func delete(_ key: ObjectKey) throws(StoreError) -> Bool {
        pass()
        return try store.delete(key)
    }

    func probe() throws(StoreError) {
        pass()
        try store.probe()
    }
}
