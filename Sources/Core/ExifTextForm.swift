/// How the standard wants a text of an EXIF block written (EXIF 3.0, section 4.6.6.6). A text that is not so is none of its
/// tag's, and may be anything.
package enum ExifTextForm: Sendable {
    /// Whatever prints.
    case free
    /// `YYYY:MM:DD HH:MM:SS`; what is unknown is blank.
    case moment
    /// `YYYY:MM:DD`
    case day
    /// `+HH:MM`; what is unknown is blank.
    case offset
    /// The digits of a second's fraction, nine at most.
    case fraction

    /// - Parameter text: without the NUL at its end.
    package func allows(_ text: some Collection<UInt8>) -> Bool {
        switch self {
        case .free: true
        case .moment: ExifTextForm.matches(text, "0000:00:00 00:00:00", blanks: true)
        case .day: ExifTextForm.matches(text, "0000:00:00", blanks: false)
        case .offset: ExifTextForm.matches(text, "+00:00", blanks: true)
        case .fraction: (1...9).contains(text.count) && text.allSatisfy(ExifTextForm.isDigit)
        }
    }

    /// - Parameter pattern: 0 stands for a digit, + for a sign, all else for itself.
    private static func matches(_ text: some Collection<UInt8>, _ pattern: String, blanks: Bool) -> Bool {
        guard text.count == pattern.utf8.count else { return false }
        return zip(text, pattern.utf8).allSatisfy { byte, wanted in
            switch wanted {
            case 0x30: isDigit(byte) || blanks && byte == 0x20
            case 0x2B: byte == 0x2B || byte == 0x2D || blanks && byte == 0x20
            default: byte == wanted
            }
        }
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }
}
