/// A picture that a library could not read, or a library that could not work.
package struct CodecError: Error, Sendable, Equatable {
    package enum Kind: Sendable, Equatable {
        /// The data breaks its format's rules.
        case corrupt
        /// The data ends too early.
        case truncated
        /// Lawful, but nothing that any decoder here reads.
        case unsupported
        /// More memory than the worker may have.
        case outOfMemory
        /// The output has more bytes than it may.
        case outputLimit
        /// The output could not be written.
        case output
    }

    package let kind: Kind
    /// The library's own words: for the log only, since they may quote foreign bytes.
    package let message: String

    package init(_ kind: Kind, _ message: String) {
        self.kind = kind
        self.message = message
    }
}
