package import Posix

/// A request with its whole body.
package struct Request: Sendable {
    package let head: RequestHead
    /// Nil where no byte of a body came.
    package let body: SealedFile?
}
