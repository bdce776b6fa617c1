import Core
import Foundation
import Posix
import Support
import Testing

@testable import Storage

@Suite struct StoreTests {
    @Test func memoryStoreKeepsTheContract() throws { try storeContract(MemoryStore()) }

    @Test(arguments: [FileStore.Making.unnamed, .hidden]) func fileStoreKeepsTheContract(making: FileStore.Making)
        throws
    {
        let folder = try ScratchFolder()
        try storeContract(FileStore(folder.path + "/made/on/the/way", making: making))
    }

    @Test func memoryStoreIsFullAtItsBound() throws {
        let store = MemoryStore(bytesMax: 100)
        try put(someObject(60), as: someKey(1), in: store)
        #expect(throws: StoreError.full(diagnosis: "40 bytes left")) {
            try put(someObject(60), as: someKey(2), in: store)
        }
        #expect(try store.delete(someKey(1)))
        try put(someObject(100), as: someKey(2), in: store)
        #expect(throws: StoreError.full(diagnosis: "no bytes left")) { try store.probe() }
    }
}

@Suite struct FileStoreTests {
    private let folder: ScratchFolder

    init() throws { folder = try ScratchFolder() }

    /// Every file below `path`, hidden ones too.
    private func files(below path: String) throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: path).filter {
            var isFolder: ObjCBool = false
            return FileManager.default.fileExists(atPath: path + "/" + $0, isDirectory: &isFolder)
                && !isFolder.boolValue
        }
    }

    @Test(arguments: [FileStore.Making.unnamed, .hidden]) func laysObjectsOutByDate(making: FileStore.Making) throws {
        let store = try FileStore(folder.path, making: making)
        try put(someObject(4097), as: someKey(33), in: store)
        let path = "2026/11/30/20261130T172233123Z-0000000000003G000000000011.jpg"
        #expect(try files(below: folder.path) == [path])
        let file = folder.path + "/" + path
        let sum = try Tool.run(["sha256sum", file]).text.prefix(64)
        let attribute = try Tool.run([
            "python3", "-c", "import os,sys; print(os.getxattr(sys.argv[1], 'user.safelight.sha256').decode(), end='')",
            file,
        ])
        // A file system without attributes is served too, so there may be none.
        if attribute.status == 0 { #expect(attribute.text == sum) }
        #expect(try Tool.run(["stat", "-c", "%a %s", file]).text == "640 4097\n")
        #expect(try store.get(someKey(33))?.sha256.hex == String(sum))
    }

    @Test func computesTheDigestWhereTheAttributeIsLost() throws {
        let store = try FileStore.opening(folder.path)
        let object = try someObject(700_001)
        try put(object, as: someKey(1), in: store)
        let file = folder.path + "/2026/11/30/" + someKey(1).text
        _ = try Tool.run(["python3", "-c", "import os,sys; os.removexattr(sys.argv[1], 'user.safelight.sha256')", file])
        #expect(try store.get(someKey(1))?.sha256 == SHA256.digest(of: object))
        _ = try Tool.run([
            "python3", "-c", "import os,sys; os.setxattr(sys.argv[1], 'user.safelight.sha256', b'x')", file,
        ])
        #expect(try store.get(someKey(1))?.sha256 == SHA256.digest(of: object))
    }

    /// Lengths about those that a disk takes at once.
    @Test(arguments: [1, 4095, 4096, 8192, 1_000_003]) func storesEveryLength(count: Int) throws {
        let store = try FileStore.opening(folder.path)
        let object = try someObject(count)
        try put(object, as: someKey(1), in: store)
        let stored = try Tool.run(["cat", folder.path + "/2026/11/30/" + someKey(1).text]).output
        #expect(stored == object.withBytes { Array($0) })
    }

    /// What is written past the page cache is not in it afterwards; only the last page, which it does not fill, may be.
    @Test func writesPastThePageCache() throws {
        let store = try FileStore.opening(folder.path)
        try put(someObject(1 << 20 + 1), as: someKey(1), in: store)
        let file = folder.path + "/2026/11/30/" + someKey(1).text
        let pages = try Tool.run(["fincore", "--noheadings", "--raw", "--output", "PAGES", file]).text
        let isCached = try FileStoreTests.keepsDirectWritesInMemory(folder)
        #expect(try #require(Int(pages.trimmingCharacters(in: .whitespacesAndNewlines))) <= (isCached ? 257 : 1))
    }

    /// Whether the file system below has no direct writes, as Python sees it.
    private static func keepsDirectWritesInMemory(_ folder: borrowing ScratchFolder) throws -> Bool {
        let script = """
            import mmap, os, sys
            try:
                file = os.open(sys.argv[1], os.O_CREAT | os.O_WRONLY | os.O_DIRECT)
                os.write(file, mmap.mmap(-1, 4096))
            except OSError:
                sys.exit(1)
            """
        let isWritten = try Tool.run(["python3", "-c", script, folder.path + "/direct"]).status == 0
        let isOnADisk = try Tool.run(["stat", "-f", "-c", "%T", folder.path]).text != "tmpfs\n"
        return !(isWritten && isOnADisk)
    }

    /// A probe gives its file a name as a put does, and leaves nothing.
    @Test(arguments: [FileStore.Making.unnamed, .hidden]) func aProbeNamesItsFile(making: FileStore.Making) throws {
        let store = try FileStore(folder.path, making: making)
        try store.probe()
        #expect(try files(below: folder.path) == [])
        try FileManager.default.removeItem(atPath: folder.path + "/" + FileStore.partsFolder)
        _ = try folder.file(FileStore.partsFolder, [1])
        #expect(throws: StoreError.self) { try store.probe() }
    }

    @Test(arguments: [0..<1, 0..<700_001, 262_143..<262_145, 700_000..<700_001]) func readsStretches(range: Range<Int>)
        throws
    {
        let store = try FileStore.opening(folder.path)
        let object = try someObject(700_001)
        try put(object, as: someKey(1), in: store)
        let found = try #require(try store.get(someKey(1)))
        let stretch = try found.read(range)
        // In memory: what becomes of the file does not change it.
        _ = try Tool.run(["truncate", "-s", "0", folder.path + "/2026/11/30/" + someKey(1).text])
        #expect(stretch.withBytes { Array($0) } == object.withBytes { Array($0[range]) })
        #expect(throws: StoreError.self) { try found.read(range) }
    }

    @Test(arguments: ["-300000000000", "300000000000"]) func aFileMayBeOfAnyYear(seconds: String) throws {
        let store = try FileStore.opening(folder.path)
        try put(someObject(10), as: someKey(1), in: store)
        let file = folder.path + "/2026/11/30/" + someKey(1).text
        #expect(try Tool.run(["touch", "-d", "@" + seconds, file]).status == 0)
        let year = try #require(try store.get(someKey(1))).storedAt.rfc3339.prefix(4)
        // A file system may bring it into years of its own, and does it here before we see it.
        let told = try Tool.run(["stat", "-c", "%y", file]).text.prefix(4)
        #expect(year == told || (seconds.hasPrefix("-") ? year == "1970" : year == "9999"))
    }

    @Test func findsOnlyFiles() throws {
        let store = try FileStore.opening(folder.path)
        let place = folder.path + "/2026/11/30/"
        try FileManager.default.createDirectory(atPath: place + someKey(1).text, withIntermediateDirectories: true)
        #expect(try store.get(someKey(1)) == nil)
        #expect(try Tool.run(["mkfifo", place + someKey(2).text]).status == 0)
        #expect(try store.get(someKey(2)) == nil, "and it does not wait for a writer")
        try FileManager.default.createSymbolicLink(
            atPath: place + someKey(3).text, withDestinationPath: "/etc/hostname")
        #expect(throws: StoreError.self) { try store.get(someKey(3)) }
    }

    /// What a process left that was killed while it wrote, where files need a name: gone at the next start, unless it
    /// is so young that another process may still be at it.
    @Test func sweepsWhatWasLeft() throws {
        let store = try FileStore(folder.path, making: .hidden)
        try put(someObject(10), as: someKey(1), in: store)
        let parts = folder.path + "/" + FileStore.partsFolder
        #expect(try FileManager.default.contentsOfDirectory(atPath: parts) == [])
        for (name, age) in [("old", 3700.0), ("young", 3500.0)] {
            try Data("x".utf8).write(to: URL(fileURLWithPath: parts + "/" + name))
            try FileManager.default.setAttributes(
                [.modificationDate: Date(timeIntervalSinceNow: -age)], ofItemAtPath: parts + "/" + name)
        }
        let next = try FileStore.opening(folder.path)
        #expect(try FileManager.default.contentsOfDirectory(atPath: parts) == ["young"])
        #expect(try next.get(someKey(1)) != nil)
    }

    @Test func makesItsFolderAgain() throws {
        let store = try FileStore.opening(folder.path)
        try put(someObject(10), as: someKey(1), in: store)
        try FileManager.default.removeItem(atPath: folder.path + "/2026")
        try put(someObject(10), as: someKey(2), in: store)
        #expect(try store.get(someKey(2)) != nil)
    }

    @Test func followsNoLinkOutOfItsRoot() throws {
        let elsewhere = try ScratchFolder()
        try FileManager.default.createSymbolicLink(
            atPath: folder.path + "/2026", withDestinationPath: elsewhere.path)
        let store = try FileStore.opening(folder.path)
        #expect(throws: StoreError.self) { try put(someObject(10), as: someKey(1), in: store) }
        #expect(try files(below: elsewhere.path) == [])
        // Not on the way to reading or deleting either, nor where the folder was known before it became a link.
        let place = elsewhere.path + "/11/30/"
        try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: true)
        #expect(FileManager.default.createFile(atPath: place + someKey(1).text, contents: Data([1])))
        #expect(throws: StoreError.self) { try store.get(someKey(1)) }
        #expect(throws: StoreError.self) { try store.delete(someKey(1)) }
        try FileManager.default.removeItem(atPath: folder.path + "/2026")
        try put(someObject(10), as: someKey(2), in: store)
        try FileManager.default.removeItem(atPath: folder.path + "/2026")
        try FileManager.default.createSymbolicLink(
            atPath: folder.path + "/2026", withDestinationPath: elsewhere.path)
        #expect(throws: StoreError.self) { try put(someObject(10), as: someKey(3), in: store) }
        #expect(try files(below: elsewhere.path) == ["11/30/" + someKey(1).text])
    }

    @Test func isUnavailableWhereTheRootIsNoFolder() throws {
        let file = try folder.file("file", [1])
        #expect { try FileStore.opening(file) } throws: { error in
            if case .unavailable = error as? StoreError { true } else { false }
        }
    }

    @Test(
        .enabled(if: TinyDisk.isPermitted, "mounting a file system is not permitted here"),
        arguments: [FileStore.Making.unnamed, .hidden]
    ) func leavesNothingOnAFullDisk(making: FileStore.Making) throws {
        let disk = try TinyDisk(kilobytes: 512)
        let store = try FileStore(disk.folder.path, making: making)
        try store.probe()
        try put(someObject(200_000), as: someKey(1), in: store)
        let usedBefore = try Tool.run(["df", "--output=used", disk.folder.path]).text
        #expect {
            try put(someObject(400_000), as: someKey(2), in: store)
        } throws: { error in
            if case .full = error as? StoreError { true } else { false }
        }
        #expect(try files(below: disk.folder.path) == ["2026/11/30/" + someKey(1).text])
        #expect(try Tool.run(["df", "--output=used", disk.folder.path]).text == usedBefore)
        #expect(try store.get(someKey(2)) == nil)
        try put(someObject(280_000), as: someKey(3), in: store)
        #expect {
            try store.probe()
        } throws: { error in
            if case .full = error as? StoreError { true } else { false }
        }
        #expect(try store.delete(someKey(1)))
        try store.probe()
        try put(someObject(200_000), as: someKey(4), in: store)
    }

    @Test(.enabled(if: TinyDisk.isPermitted, "mounting a file system is not permitted here"))
    func isUnavailableOnAReadOnlyDisk() throws {
        let disk = try TinyDisk(kilobytes: 512)
        let store = try FileStore.opening(disk.folder.path)
        try put(someObject(10), as: someKey(1), in: store)
        try disk.makeReadOnly()
        for attempt in [{ try put(someObject(10), as: someKey(2), in: store) }, { try store.probe() }] {
            #expect {
                try attempt()
            } throws: { error in
                if case .unavailable = error as? StoreError { true } else { false }
            }
        }
        #expect(try store.get(someKey(1))?.count == 10, "what is there can still be read")
        _ = try FileStore.opening(disk.folder.path)
    }
}
