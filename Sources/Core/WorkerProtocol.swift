/// How front and worker speak: whole messages over one socket pair, the front's end against the worker's descriptor 3.
///
/// 1. The worker sends `hello` once it is warm.
/// 2. The front sends a job, with `descriptorsPerJob` descriptors beside it: the input, sealed, and the output, empty.
///    The input is to be mapped, never read(2): its file offset is shared with whoever had it before.
/// 3. The worker writes the JPEG to the output and sends exactly one reply; 2 and 3 repeat.
/// 4. At the end of the socket the worker exits with code 0.
package enum WorkerProtocol {
    /// The worker's end of the socket pair.
    package static let socket: Int32 = 3

    /// The worker's first message: it and the front come from one build.
    package static let hello: [UInt8] = [JobMessage.version]

    package static let descriptorsPerJob = 2
}
