/// The first line's target, taken apart by our own strict rules (RFC 9112, section 3.2; RFC 3986, sections 2.1 and 3).
///
/// libmicrohttpd's own decoding would cut a path at `%00` and make `%2f` a separator.
package struct RequestTarget: Sendable, Equatable {
    package struct Parameter: Sendable, Equatable {
        package let name: String
        package let value: String
    }

    /// The decoded segments: `["v1", "images", "a b"]`; none for `/` and `*`. A decoded `/` stays inside its segment.
    package let path: [String]
    /// The query's decoded pairs in their order, duplicates kept; a name alone has the value "".
    package let query: [Parameter]

    /// Takes origin-form and absolute-form, and `*` for OPTIONS; the authority of an absolute-form is dropped.
    ///
    /// - Throws: `.badRequest` for any other form, a byte that no target may hold, a percent sign without two hex
    ///   digits, `%00`, and what is not UTF-8 when decoded.
    package init(_ bytes: [UInt8], method: Method) throws(HTTPProblem) {
        guard bytes.allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "#") }) else {
            throw .badRequest(reason: "the request target holds a character that must be percent-encoded")
        }
        if bytes == [UInt8(ascii: "*")], method == .options {
            (path, query) = ([], [])
            return
        }
        let origin = try Self.originForm(bytes[...])
        let parts = origin.split(separator: UInt8(ascii: "?"), maxSplits: 1, omittingEmptySubsequences: false)
        path = try Self.segments(parts[0])
        query = parts.count > 1 ? try Self.parameters(parts[1]) : []
    }

    /// Drops `http://authority` of an absolute-form, which every server must take.
    private static func originForm(_ bytes: ArraySlice<UInt8>) throws(HTTPProblem) -> ArraySlice<UInt8> {
        if bytes.first == UInt8(ascii: "/") { return bytes }
        for scheme in ["http://", "https://"] where bytes.count > scheme.utf8.count {
            let head = bytes.prefix(scheme.utf8.count)
            guard String(decoding: head, as: UTF8.self).lowercased() == scheme else { continue }
            let rest = bytes.dropFirst(scheme.utf8.count)
            guard let end = rest.firstIndex(where: { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "?") }) else {
                return [UInt8(ascii: "/")]
            }
            if end == rest.startIndex { break }
            return rest[end] == UInt8(ascii: "/") ? rest[end...] : [UInt8(ascii: "/")] + rest[end...]
        }
        throw .badRequest(reason: "the request target is neither a path nor an absolute http URL")
    }

    private static func segments(_ path: ArraySlice<UInt8>) throws(HTTPProblem) -> [String] {
        let relative = path.dropFirst()
        if relative.isEmpty { return [] }
        var segments: [String] = []
        for segment in relative.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false) {
            segments.append(try decoded(segment, plusIsSpace: false))
        }
        return segments
    }

    private static func parameters(_ query: ArraySlice<UInt8>) throws(HTTPProblem) -> [Parameter] {
        var parameters: [Parameter] = []
        for pair in query.split(separator: UInt8(ascii: "&")) {
            let parts = pair.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            let name = try decoded(parts[0], plusIsSpace: true)
            parameters.append(
                Parameter(name: name, value: parts.count > 1 ? try decoded(parts[1], plusIsSpace: true) : ""))
        }
        return parameters
    }

    /// - Parameter plusIsSpace: as in application/x-www-form-urlencoded, which is what clients make queries of.
    private static func decoded(_ bytes: ArraySlice<UInt8>, plusIsSpace: Bool) throws(HTTPProblem) -> String {
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count)
        var rest = bytes
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "%"):
                guard let high = rest.popFirst().flatMap(hexValue), let low = rest.popFirst().flatMap(hexValue) else {
                    throw .badRequest(reason: "a percent sign in the request target lacks its two hex digits")
                }
                guard high != 0 || low != 0 else { throw .badRequest(reason: "the request target holds a %00") }
                result.append(high << 4 | low)
            case UInt8(ascii: "+") where plusIsSpace: result.append(UInt8(ascii: " "))
            default: result.append(byte)
            }
        }
        guard let text = String(validating: result, as: UTF8.self) else {
            throw .badRequest(reason: "the request target is not UTF-8 when decoded")
        }
        return text
    }

    private static func hexValue(_ digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
