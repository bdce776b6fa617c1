import Core
import Foundation
import Glibc
import Posix
import SandboxDeeds
import Testing

/// A process in the workers' sandbox (Tests/SandboxProbe) tries what Tests/SandboxDeeds lists, a fresh one each.
@Suite struct SandboxTests {
    /// Each forbidden call ends it, and the message before the end names the call; what decoding needs goes on.
    @Test(arguments: Deed.all) func eachDeedComesToWhatItMust(deed: Deed) throws {
        let probe = try Probe.start()
        let answer = try probe.tell(deed)
        switch deed.fate {
        case deed_trapped:
            #expect(WorkerProtocol.trappedCall(answer ?? []) == Int(deed.number))
            #expect(probe.exit() == .signal(SIGSYS))
        case deed_killed:
            #expect(answer == nil)
            #expect(probe.exit() == .signal(SIGSYS))
        case deed_ends:
            #expect(answer == nil)
            #expect(probe.exit() == .signal(deed.number))
        case deed_refused: #expect(Probe.result(answer).map { [$0, $1] } == [-1, Int(deed.number)])
        default: #expect(Probe.result(answer)?.0 == 0)
        }
    }

    /// The sealed input is mapped, the output rewound and written, more than once.
    @Test func readsItsInputAndWritesItsOutput() throws {
        let probe = try Probe.start()
        for text in ["one", "two"] {
            let output = try MemoryFile(name: "output")
            let input = try SealedFile.holding(Array(text.utf8), name: "input")
            #expect(Probe.result(try probe.copy(input, output))?.0 == 3)
            #expect(try output.seal().withBytes { String(decoding: $0, as: UTF8.self) } == text)
        }
        #expect(probe.exit() == .code(0))
    }

    /// Its output is memory that no process is charged with.
    @Test func fillsNoMoreThanItsOutputMayHold() throws {
        let probe = try Probe.start()
        let output = try MemoryFile(name: "output")
        for (count, expected) in [(1 << 20, (1 << 20, 0)), (1 << 20 + 1, (-1, Int(EFBIG)))] {
            let input = try SealedFile.holding([UInt8](repeating: 1, count: count), name: "input")
            #expect(try #require(Probe.result(try probe.copy(input, output))) == expected)
        }
        #expect(try output.descriptor.size() == 1 << 20)
    }

    /// As the kernel tells it: no capability (root has all at first), no way to new ones, a filter, nobody else's
    /// descriptor.
    @Test func hasGivenUpWhatItHad() throws {
        let probe = try Probe.start()
        let status = try String(contentsOfFile: "/proc/\(probe.pid)/status", encoding: .utf8)
        for line in ["CapPrm:\t0000000000000000", "CapEff:\t0000000000000000", "NoNewPrivs:\t1", "Seccomp:\t2"] {
            #expect(status.contains(line + "\n"))
        }
        let limits = try String(contentsOfFile: "/proc/\(probe.pid)/limits", encoding: .utf8)
        let words = limits.split(separator: "\n").map { $0.split(separator: " ") }
        #expect(words.contains { $0.starts(with: ["Max", "core", "file", "size", "0", "0"]) })
        #expect(words.contains { $0.starts(with: ["Max", "open", "files", "16", "16"]) })
        #expect(words.contains { $0.starts(with: ["Max", "file", "size", "1048576", "1048576"]) })
        // Of a process that hides its memory /proc belongs to root.
        let attributes = try FileManager.default.attributesOfItem(atPath: "/proc/\(probe.pid)/mem")
        #expect(attributes[.ownerAccountID] as? Int == 0)
    }

    /// Only root may still look.
    @Test(.enabled(if: getuid() == 0, "takes root")) func seesNothingButItsSocket() throws {
        let probe = try Probe.start()
        let folder = "/proc/\(probe.pid)/fd"
        let places = try FileManager.default.contentsOfDirectory(atPath: folder).sorted().map {
            try FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/\($0)").filter { !$0.isNumber }
        }
        #expect(places == ["/dev/null", "/dev/null", "/dev/null", "socket:[]"])
    }
}

/// One row of Tests/SandboxDeeds.
struct Deed: Sendable, CustomTestStringConvertible {
    let index: Int
    let testDescription: String
    let fate: deed_fate
    let number: Int32

    static let all = (0..<deed_count()).map { index in
        let row = deed_at(index)
        return Deed(index: index, testDescription: String(cString: row.name), fate: row.fate, number: row.number)
    }
}

/// One process of Tests/SandboxProbe, in its sandbox.
struct Probe: ~Copyable {
    private let child: Child
    private let socket: Socket

    var pid: Int32 { child.pid }

    private init(child: consuming Child, socket: consuming Socket) {
        self.child = child
        self.socket = socket
    }

    /// Comes back once it is in its sandbox.
    static func start() throws -> Probe {
        let pair = try SocketPair.make()
        let path = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
            .appendingPathComponent("SandboxProbe").path
        let child = try Child.spawn(path, socket: pair.far)
        let probe = Probe(child: child, socket: pair.keepNear())
        let hello = try probe.socket.receive(bytesMax: 8, descriptorsMax: 0)?.bytes
        try #require(hello == WorkerProtocol.hello)
        return probe
    }

    func tell(_ deed: Deed) throws -> [UInt8]? {
        try socket.send(withUnsafeBytes(of: deed.index) { Array($0) })
        return try socket.receive(bytesMax: 16, descriptorsMax: 0)?.bytes
    }

    func copy(_ input: SealedFile, _ output: borrowing MemoryFile) throws -> [UInt8]? {
        try socket.send([0], descriptors: [input.descriptor.raw, output.descriptor.raw])
        return try socket.receive(bytesMax: 16, descriptorsMax: 0)?.bytes
    }

    /// A deed's result and its errno; nil where it did not survive it.
    static func result(_ answer: [UInt8]?) -> (Int, Int)? {
        guard let answer, answer.count == 16 else { return nil }
        let numbers = [0, 8].map { start in
            answer[start..<start + 8].reversed().reduce(0) { $0 << 8 | Int($1) }
        }
        return (numbers[0], numbers[1])
    }

    /// How it ends, once nobody talks to it any more.
    consuming func exit() -> Child.Exit {
        let child = endLine()
        return child.end(graceMs: 5000)
    }

    private consuming func endLine() -> Child { child }
}
