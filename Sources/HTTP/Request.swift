package import Posix

/// A request with its whole body.
package struct Request: Sendable {
    package let head: RequestHead
    /// Nil where no byte of a body came.
    package let body: SealedFile?
    /// When the head was complete, in microseconds of `Clock.monotonicUs`.
    package let headAtUs: Int
    /// When the body was complete, likewise.
    package let bodyAtUs: Int
}
