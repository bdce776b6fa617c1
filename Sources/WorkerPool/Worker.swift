import Core
import Glibc
import Posix

/// One worker process and the line to it. What comes from there is not believed.
struct Worker: ~Copyable {
    private var child: Child
    private let socket: Socket
    /// Jobs that it replied to.
    private(set) var jobs = 0

    private init(child: consuming Child, socket: consuming Socket) {
        self.child = child
        self.socket = socket
    }

    var pid: Int32 { child.pid }

    static func spawn(_ path: String) throws(PosixError) -> Worker {
        let pair = try SocketPair.make()
        let child = try Child.spawn(path, socket: pair.far)
        child.offerToOutOfMemoryKiller()
        return Worker(child: child, socket: pair.keepNear())
    }

    /// Waits for the hello.
    ///
    /// - Returns: false where `wakeUp` was signalled before it came.
    /// - Throws: `timedOut` at `untilMs`; `unfiltered` where that is not allowed.
    mutating func awaitHello(
        allowsUnsandboxed: Bool, wakeUp: EventCounter, untilMs: Int
    ) throws(Loss) -> Bool {
        guard let message = try awaitMessage(wakeUp: wakeUp, untilMs: untilMs) else { return false }
        switch message {
        case WorkerProtocol.hello: return true
        case WorkerProtocol.helloUnfiltered: if allowsUnsandboxed { return true } else { throw .unfiltered }
        default: throw .spokeUnasked
        }
    }

    /// Waits, without a job, until `wakeUp` is signalled.
    mutating func idle(wakeUp: EventCounter) throws(Loss) {
        if try awaitMessage(wakeUp: wakeUp, untilMs: nil) != nil { throw .spokeUnasked }
    }

    /// Gives it a job. Thrown losses cost the job nothing: the worker never had it.
    mutating func hand(_ job: Job, input: SealedFile, output: borrowing MemoryFile) throws(Loss) {
        if try hasSpoken() { throw .spokeUnasked }
        let descriptors = [input.descriptor.raw, output.descriptor.raw]
        do { try socket.send(JobMessage.encode(job), descriptors: descriptors) } catch { throw .unreachable(error) }
    }

    /// Waits for the job's reply; nil where `wakeUp` was signalled before. Whatever comes after the first reply shows
    /// before the next job is handed over.
    ///
    /// A worker that gives up is lost with its job: another one may have what this one lacked.
    mutating func awaitReply(wakeUp: EventCounter, untilMs: Int) throws(Loss) -> Reply? {
        guard let message = try awaitMessage(wakeUp: wakeUp, untilMs: untilMs) else { return nil }
        guard let reply = try? JobMessage.decodeReply(message) else { throw .replyMalformed }
        if case .failed(let failure) = reply {
            if failure.code == .internalError { throw .gaveUp(failure.diagnosis ?? failure.detail) }
            guard failure.code.isForWorkers else { throw .replyMalformed }
        }
        jobs += 1
        return reply
    }

    func residentBytes() -> Int? { child.residentBytes() }

    /// Closes the line, at which a good worker exits; kills it after `graceMs`; reaps it.
    consuming func end(graceMs: Int) {
        let child = endLine()
        child.end(graceMs: graceMs)
    }

    private consuming func endLine() -> Child { child }

    /// Whether a message lies there unread. Throws where the worker is gone.
    private mutating func hasSpoken() throws(Loss) -> Bool {
        guard waitReadable([socket.descriptor.raw], untilMs: 0)[0] else { return false }
        _ = try receive()
        return true
    }

    private mutating func awaitMessage(wakeUp: EventCounter, untilMs: Int?) throws(Loss) -> [UInt8]? {
        let line = socket.descriptor.raw
        let ready = waitReadable([line, child.ending.raw, wakeUp.descriptor.raw], untilMs: untilMs)
        if ready[0] { return try receive() }
        if ready[1] {
            // Its last word may have come in between; without one, somebody else still holds its end of the line.
            if waitReadable([line], untilMs: 0)[0] { return try receive() }
            throw ended(child.wait(untilMs: 0))
        }
        if ready[2] {
            wakeUp.wait()
            return nil
        }
        throw .timedOut
    }

    private mutating func receive() throws(Loss) -> [UInt8] {
        let message: Message?
        do {
            message = try socket.receive(bytesMax: JobMessage.bytesMax, descriptorsMax: 0)
        } catch { throw .replyMalformed }
        // The line closes a moment before the process has ended.
        guard let message else { throw ended(child.wait(untilMs: Clock.monotonicMs() + 1000)) }
        if let call = WorkerProtocol.trappedCall(message.bytes) { throw .trapped(call: call) }
        return message.bytes
    }

    /// Where all signals are blocked, the kernel ends the process before it can tell its system call.
    private func ended(_ exit: Child.Exit?) -> Loss {
        exit == .signal(SIGSYS) ? .trapped(call: nil) : .exited(exit)
    }
}

extension Failure.Code {
    /// Whether a worker may say so: what lies in the picture, or the memory that it takes. A bad picture is never a 5xx, and a
    /// worker that was taken over cannot speak for the service.
    fileprivate var isForWorkers: Bool {
        switch self {
        case .unsupportedMedia, .corrupt, .truncated, .tooManyPixels, .undecodable, .cropOutside, .budgetUnreachable:
            true
        case .badParameter, .badRequest, .emptyBody, .notFound, .methodNotAllowed, .uploadTimeout, .bodyTooLarge,
            .rangeNotSatisfiable, .selfCheckFailed, .internalError, .busy, .stopping, .storageUnavailable, .storageFull:
            false
        }
    }
}
