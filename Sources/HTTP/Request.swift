package import Posix

/// A request with its whole body.
package struct Request: Sendable {
    package let head: RequestHead
    /// Nil where no byte of a body came.
    package let body: SealedFile?
    /// What `Verdict.accept` gave to this request.
    package var permit: (any Sendable)?
    package var client = Requester()
}
