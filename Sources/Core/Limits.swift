/// The bounds that every upload meets. Each refusal names the value and the limit.
package struct Limits: Sendable, Equatable {
    /// Bytes of a request's body.
    package var bodyBytesMax = 64 * 1024 * 1024
    /// Pixels of the source picture, as declared: width × height.
    package var pixelsMax = 220_000_000
    /// Wall-clock time of one job in a worker, in milliseconds.
    package var jobDeadlineMs = 20_000
    /// Memory a worker may plan for and allocate.
    package var workerBytesMax = 768 * 1024 * 1024
    /// Bytes of a finished JPEG; a bound on what a worker may write.
    package var outputBytesMax = 256 * 1024 * 1024

    package init() {}
}
