/// The formats that Safelight prepares.
package enum SourceFormat: String, Sendable, CaseIterable {
    case jpeg
    case heic
}

/// What the first bytes of a file say it is.
package enum Sniffed: Sendable, Equatable {
    case accepted(SourceFormat)
    /// A format known by name and refused: its media type, for the error text ("image/png").
    case refused(mediaType: String)
    /// Nothing that is known.
    case unknown
}
