import Storage

/// The strong validator of a stored picture: its digest. Two pictures with one digest are one picture.
struct EntityTag: Equatable, CustomStringConvertible {
    let description: String

    init(_ digest: SHA256Digest) { description = "\"\(digest.hex)\"" }

    /// Whether an `If-None-Match` header names this tag (RFC 9110, section 13.1.2: weak comparison).
    func isMatched(by header: String) -> Bool {
        if header.trimmingBlanks == "*" { return true }
        // Our tags hold no comma, so that a list may be cut at commas: a foreign tag with one cannot turn into ours.
        return header.split(separator: ",").contains { candidate in
            let tag = String(candidate).trimmingBlanks
            return (tag.hasPrefix("W/") ? String(tag.dropFirst(2)) : tag) == description
        }
    }
}

extension String {
    /// Without the blanks and tabs at both ends.
    var trimmingBlanks: String {
        let isBlank: (Character) -> Bool = { $0 == " " || $0 == "\t" }
        return String(drop(while: isBlank).reversed().drop(while: isBlank).reversed())
    }
}
