import Core
import Glibc
import Posix

/// A worker that misbehaves on demand: at its start by the name it is called by, at a job by the input's words.
func run(_ arguments: [String]) -> Int32 {
    var noCore = rlimit()
    setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &noCore)
    Signals.dieWithParent()
    let descriptors = (0..<256).filter { fcntl(Int32($0), F_GETFD) != -1 }
    let socket = Socket(adopting: Descriptor(adopting: WorkerProtocol.socket))
    var worker = FaultWorker(descriptors: descriptors)
    do {
        try worker.start(as: arguments.first?.split(separator: "/").last.map(String.init) ?? "", socket)
        while true {
            let message = try socket.receive(
                bytesMax: JobMessage.bytesMax, descriptorsMax: WorkerProtocol.descriptorsPerJob)
            guard var message else { return 0 }
            guard let input = message.takeDescriptor(), let output = message.takeDescriptor() else { return 2 }
            let words = try SealedFile.received(input).withBytes { String(decoding: $0, as: UTF8.self) }
            try worker.work(words.split(separator: " ").map(String.init), output, socket)
        }
    } catch {
        return 3
    }
}

struct FaultWorker: ~Copyable {
    /// What was open at the start.
    let descriptors: [Int]
    /// An output of an earlier job, held on to.
    var kept: Int32 = -1
    var ballast: [UInt8] = []

    init(descriptors: [Int]) { self.descriptors = descriptors }

    func start(as name: String, _ socket: borrowing Socket) throws {
        switch name {
        case "DieAtStart": exit(7)
        case "Mute": hang()
        case "Stranger": try socket.send([0xFF])
        case "DieAfterHello":
            try socket.send(WorkerProtocol.hello)
            exit(7)
        case "Unfiltered": try socket.send(WorkerProtocol.helloUnfiltered)
        case "Early":
            try socket.send(WorkerProtocol.hello)
            try socket.send(done)
        default: try socket.send(WorkerProtocol.hello)
        }
    }

    mutating func work(_ words: [String], _ output: borrowing Descriptor, _ socket: borrowing Socket) throws {
        let rest = Array(words.dropFirst())
        switch words.first {
        case "once":
            // once PATH WORDS: the words the first time, an echo when PATH exists.
            if access(rest[0], F_OK) == 0 { return try echo("again", output, socket) }
            _ = try Descriptor.open(rest[0], O_CREAT | O_WRONLY, mode: 0o600)
            try work(Array(rest.dropFirst()), output, socket)
        case "echo": try echo(rest[0], output, socket)
        case "relapse":
            // relapse PATH: dies after 2 s the first time, hangs when PATH exists.
            if access(rest[0], F_OK) == 0 { hang() }
            _ = try Descriptor.open(rest[0], O_CREAT | O_WRONLY, mode: 0o600)
            usleep(2_000_000)
            exit(1)
        case "until":
            // until STARTED RELEASED: makes the one file, and goes on when the other is there.
            _ = try Descriptor.open(rest[0], O_CREAT | O_WRONLY, mode: 0o600)
            while access(rest[1], F_OK) != 0 { usleep(1000) }
            try echo("released", output, socket)
        case "describe":
            var environment: [String] = []
            var entry = environ
            while let variable = entry.pointee {
                environment.append(String(cString: variable))
                entry += 1
            }
            let own = getsid(0) == getpid() ? "own" : "shared"
            try echo("\(descriptors) \(environment) \(own)", output, socket)
        case "pid": try echo("\(getpid())", output, socket)
        case "refuse": try socket.send(JobMessage.encode(.failed(Failure(.corrupt, "broken"))))
        case "grow":
            ballast = [UInt8](repeating: 1, count: 64 << 20)
            try echo("grown", output, socket)
        default: try fail(words, output, socket)
        }
    }

    private mutating func fail(_ words: [String], _ output: borrowing Descriptor, _ socket: borrowing Socket) throws {
        switch words.first {
        case "signal":
            // A sanitizer's own handler would make an exit of it.
            let number = Int32(words[1]) ?? 0
            signal(number, SIG_DFL)
            kill(getpid(), number)
        case "trap": preconditionFailure()
        case "forbidden":
            // As the sandbox does it: tells the call's number, and ends.
            try socket.send([WorkerProtocol.trapMark, 0x01, 0x01, 0, 0])
            signal(SIGSYS, SIG_DFL)
            kill(getpid(), SIGSYS)
        case "exit": exit(Int32(words[1]) ?? 0)
        case "hang": hang()
        case "close":
            close(WorkerProtocol.socket)
            hang()
        case "orphan": try leaveOrphan()
        case "garbage": try socket.send([1, 2, 3])
        case "surrender":
            try socket.send(JobMessage.encode(.failed(Failure(.internalError, "no", diagnosis: "out of luck"))))
        case "busy": try socket.send(JobMessage.encode(.failed(Failure(.busy, "no"))))
        case "long": try socket.send([UInt8](repeating: 1, count: JobMessage.bytesMax + 1))
        case "descriptor": try socket.send(done, descriptors: [0])
        case "flood":
            try output.writeAll(Array("flood".utf8))
            for _ in 0..<10 { try socket.send(done) }
        case "chatter":
            try echo("chatter", output, socket)
            usleep(20_000)
            try socket.send(done)
        case "leave":
            try echo("left", output, socket)
            exit(0)
        case "nothing": try socket.send(done)
        case "huge":
            ftruncate(output.raw, off_t(words[1]) ?? 0)
            try socket.send(done)
        case "hold":
            ftruncate(output.raw, 4096)
            mmap(nil, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, output.raw, 0)
            try socket.send(done)
        case "seal":
            try output.writeAll(Array("sealed".utf8))
            // F_ADD_SEALS, F_SEAL_SEAL: the front could not seal any more.
            _ = fcntl(output.raw, 1033, 1)
            try socket.send(done)
        case "keep":
            kept = dup(output.raw)
            try echo("kept", output, socket)
        case "alter":
            let isWritten = pwrite(kept, "X", 1, 0) == 1
            let error = errno
            let mapping = mmap(nil, 4, PROT_READ | PROT_WRITE, MAP_SHARED, kept, 0)
            let isMapped = mapping != MAP_FAILED
            try echo(isWritten || isMapped ? "altered" : "errno \(error)", output, socket)
        default: exit(4)
        }
    }

    private func echo(_ text: String, _ output: borrowing Descriptor, _ socket: borrowing Socket) throws {
        try output.writeAll(Array(text.utf8))
        try socket.send(done)
    }

    private func hang() -> Never { while true { pause() } }

    /// Ends, and leaves behind a process that holds this worker's end of the line open.
    private func leaveOrphan() throws {
        var pid: pid_t = 0
        var arguments: [UnsafeMutablePointer<CChar>?] = [strdup("sleep"), strdup("60"), nil]
        _ = fcntl(WorkerProtocol.socket, F_SETFD, 0)
        posix_spawn(&pid, "/bin/sleep", nil, nil, &arguments, environ)
        exit(5)
    }

    private var done: [UInt8] {
        let size = PixelSize(width: 1, height: 1)
        return JobMessage.encode(
            .done(
                Report(
                    path: .copy, size: size, quality: nil,
                    source: Report.Source(
                        format: .jpeg, size: size, orientation: .upright, orientationSource: .none),
                    color: Report.Color(source: "sRGB", output: "sRGB"), found: [:], warnings: [])))
    }
}
