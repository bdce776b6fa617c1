/// How front and worker speak: whole messages over one socket pair, the front's end against the worker's descriptor 3.
///
/// 1. The worker sends `hello` once it is warm and in its sandbox, or `helloUnfiltered` where the kernel cannot filter
///    its system calls. 2. The front sends a job, with `descriptorsPerJob` descriptors beside it: the input, sealed,
///    and the output, empty. The input is to be mapped, never read(2): its file offset is shared with whoever had it
///    before. 3. The worker writes the JPEG to the output and sends exactly one reply; 2 and 3 repeat. 4. At the end of
///    the socket the worker exits with code 0.
///
/// At any time: a system call that the worker may not make sends `trapMark` and the call's number, and ends the worker.
package enum WorkerProtocol {
    /// The worker's end of the socket pair.
    package static let socket: Int32 = 3

    /// The worker's first message: it and the front come from one build.
    package static let hello: [UInt8] = [JobMessage.version]

    package static let helloUnfiltered: [UInt8] = hello + [0]

    /// No version of `JobMessage`.
    package static let trapMark: UInt8 = 0xFF

    /// The system call that a message tells of; nil where it tells of none.
    package static func trappedCall(_ message: [UInt8]) -> Int? {
        guard message.count == 5, message[0] == trapMark else { return nil }
        return Int(message.dropFirst().reversed().reduce(UInt32(0)) { $0 << 8 | UInt32($1) })
    }

    package static let descriptorsPerJob = 2
}
