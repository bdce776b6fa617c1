import Core
import Glibc
import Posix
import Storage
import Synchronization

/// A store whose calls do not come back for a while, or fail.
final class FaultyStore: ObjectStore {
    private let store: MemoryStore
    private let isHanging = Atomic(false)
    private let hangsInPuts = Atomic(false)
    private let puts = Atomic(0)
    private let fault = Mutex<StoreError?>(nil)

    init(_ store: MemoryStore) { self.store = store }

    func hang() { isHanging.store(true, ordering: .relaxed) }

    func hangInPuts() { hangsInPuts.store(true, ordering: .relaxed) }

    func comeBack() {
        isHanging.store(false, ordering: .relaxed)
        hangsInPuts.store(false, ordering: .relaxed)
    }

    /// From now on every call fails with `fault`; nil makes the store whole again.
    func breakDown(_ fault: StoreError?) { self.fault.withLock { $0 = fault } }

    /// Puts that have begun.
    var putCount: Int { puts.load(ordering: .relaxed) }

    private func pass() throws(StoreError) {
        while isHanging.load(ordering: .relaxed) { usleep(2000) }
        if let fault = fault.withLock({ $0 }) { throw fault }
    }

    func put(_ key: ObjectKey, _ object: SealedFile, sha256: SHA256Digest) throws(StoreError) {
        puts.add(1, ordering: .relaxed)
        while hangsInPuts.load(ordering: .relaxed) { usleep(2000) }
        try pass()
        try store.put(key, object, sha256: sha256)
    }

    func get(_ key: ObjectKey) throws(StoreError) -> StoredObject? {
        try pass()
        return try store.get(key)
    }

    func delete(_ key: ObjectKey) throws(StoreError) -> Bool {
        try pass()
        return try store.delete(key)
    }

    func probe() throws(StoreError) {
        try pass()
        try store.probe()
    }
}
