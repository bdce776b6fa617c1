import Core
import Glibc
import Posix
import Sandbox
import SandboxDeeds

/// A process that enters the workers' sandbox and then does the one deed that it is told.
///
/// Messages in: the deed's number, in eight bytes; or nothing but two descriptors, of which the first is to be written to
/// the second. Out: a hello; then, if it lives, the deed's result and errno, in eight bytes each.
func run(_ arguments: [String]) -> Int32 {
    if arguments.count > 1 { return runWithoutSeccomp(Array(arguments.dropFirst())) }
    Signals.dieWithParent()
    Signals.outliveFileSizeLimit()
    tzset()
    deed_prepare()
    let socket = Socket(adopting: Descriptor(adopting: WorkerProtocol.socket))
    do {
        try MemoryLimit.limitHeaps(4)
        guard try Sandbox.enter(socket: socket, mark: WorkerProtocol.trapMark, fileBytesMax: 1 << 20) else {
            return 2
        }
        try socket.send(WorkerProtocol.hello)
        while let message = try socket.receive(bytesMax: 8, descriptorsMax: 2) {
            let result = message.descriptorCount == 2 ? copy(message) : act(message.bytes)
            try socket.send(bytes(result.0) + bytes(Int(result.1)))
        }
        return 0
    } catch {
        return 3
    }
}

private func act(_ message: [UInt8]) -> (Int, Int32) {
    var error: Int32 = 0
    let result = deed_do(message.reversed().reduce(0) { $0 << 8 | Int($1) }, &error)
    return (result, error)
}

/// What a worker does with its two descriptors.
private func copy(_ message: consuming Message) -> (Int, Int32) {
    guard let input = message.takeDescriptor(), let output = message.takeDescriptor() else { return (-3, 0) }
    do {
        let file = try SealedFile.received(input)
        try output.writeAll([0])
        try output.rewind(to: 0)
        try file.withBytes { bytes in try output.writeAll(bytes) }
        return (file.count, 0)
    } catch {
        return (-1, (error as? PosixError)?.errno ?? 0)
    }
}

private func bytes(_ value: Int) -> [UInt8] { withUnsafeBytes(of: value) { Array($0) } }
