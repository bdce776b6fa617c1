import Glibc
import Posix
import Testing

@Suite struct MemoryLimitTests {
    /// In a process of its own, which can spare the memory.
    @Test func refusesWhatIsOverForGood() async {
        await #expect(processExitsWith: .success) {
            let file = try MemoryFile(name: "test")
            try MemoryLimit.set(1 << 30)
            #expect(malloc(1 << 30) == nil)
            try file.descriptor.writeAll([UInt8](repeating: 1, count: 1 << 20))
            try file.seal().withBytes { #expect($0.count == 1 << 20) }
            try MemoryLimit.set(2 << 30)
            #expect(malloc(1 << 30) == nil)
            try MemoryLimit.set(1 << 29)
            #expect(malloc(1 << 29) == nil)
        }
    }
}
