import Core
import Foundation
import Posix
import Storage
import Synchronization
import Testing

/// What every store must do, whatever it is made of.
func storeContract(_ store: any ObjectStore) throws {
    try keepsWhatWasPut(store)
    try refusesATakenKey(store)
    try forgetsWhatWasDeleted(store)
    try keepsTheEmptyObject(store)
    try letsOneOfManyWin(store)
    try store.probe()
}

/// Keys of one day, each another.
func someKey(_ number: UInt64) -> ObjectKey {
    ObjectKey(createdAt: UTCTime(milliseconds: 1_796_059_353_123), random: (high: 7, low: number))
}

func someObject(_ count: Int, seed: Int = 1) throws -> SealedFile {
    try SealedFile.holding((0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ seed) }, name: "test")
}

func put(_ object: SealedFile, as key: ObjectKey, in store: any ObjectStore) throws(StoreError) {
    try store.put(key, object, sha256: SHA256.digest(of: object))
}

func bytes(of object: StoredObject, from offset: Int = 0) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: object.count - offset)
    let got = pread(object.content.raw, &bytes, bytes.count, off_t(offset))
    return got == bytes.count ? bytes : []
}

private func keepsWhatWasPut(_ store: any ObjectStore) throws {
    let object = try someObject(100_000)
    #expect(try store.get(someKey(1)) == nil)
    try put(object, as: someKey(1), in: store)
    let found = try #require(try store.get(someKey(1)))
    #expect(found.count == 100_000)
    #expect(found.sha256 == SHA256.digest(of: object))
    #expect(object.withBytes { Array($0) } == bytes(of: found))
    #expect(object.withBytes { Array($0.dropFirst(99_990)) } == bytes(of: found, from: 99_990))
    #expect(abs(found.storedAt.milliseconds - Clock.unixMs()) < 60_000)
    #expect(try store.get(someKey(2)) == nil)
}

private func refusesATakenKey(_ store: any ObjectStore) throws {
    let first = try someObject(10)
    try put(first, as: someKey(10), in: store)
    #expect(throws: StoreError.exists) { try put(someObject(20), as: someKey(10), in: store) }
    #expect(try store.get(someKey(10))?.sha256 == SHA256.digest(of: first))
}

private func forgetsWhatWasDeleted(_ store: any ObjectStore) throws {
    try put(someObject(1000), as: someKey(20), in: store)
    let held = try #require(try store.get(someKey(20)))
    #expect(try store.delete(someKey(20)))
    #expect(try store.get(someKey(20)) == nil)
    #expect(try !store.delete(someKey(20)))
    #expect(bytes(of: held).count == 1000, "an open object is read to its end")
    let otherDay = ObjectKey(createdAt: UTCTime(milliseconds: 0), random: (high: 0, low: 0))
    #expect(try !store.delete(otherDay), "not even its folder exists")
    #expect(try store.get(otherDay) == nil)
}

private func keepsTheEmptyObject(_ store: any ObjectStore) throws {
    try put(someObject(0), as: someKey(30), in: store)
    #expect(try store.get(someKey(30))?.count == 0)
}

private func letsOneOfManyWin(_ store: any ObjectStore) throws {
    let wins = Mutex<[Int]>([])
    let losses = Mutex<[StoreError]>([])
    let objects = try (0..<8).map { try someObject(5000, seed: $0) }
    DispatchQueue.concurrentPerform(iterations: 8) { index in
        do throws(StoreError) {
            try put(objects[index], as: someKey(40), in: store)
            wins.withLock { $0.append(index) }
        } catch {
            losses.withLock { $0.append(error) }
        }
    }
    let winner = try #require(wins.withLock { $0.count == 1 ? $0.first : nil })
    #expect(losses.withLock { $0 } == Array(repeating: .exists, count: 7))
    #expect(try store.get(someKey(40))?.sha256 == SHA256.digest(of: objects[winner]))
}
