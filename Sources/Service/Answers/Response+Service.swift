import Core
import HTTP
import Posix
import Storage

// The answers of this service; what each header means stands in openapi.yaml.
extension Response {
    static func json(_ status: Int, _ value: some Encodable, headers: [(String, String)] = []) -> Response {
        Response(
            status: status,
            headers: [("Content-Type", "application/json"), ("Cache-Control", "no-store")] + headers,
            body: .bytes(JSON.encode(value)))
    }

    /// - Parameter retryAfterSeconds: instead of what the failure's kind says.
    static func problem(
        _ failure: Failure, id: String, headers: [(String, String)] = [], retryAfterSeconds: Int? = nil
    ) -> Response {
        var headers = [("Content-Type", "application/problem+json"), ("Cache-Control", "no-store")] + headers
        if let seconds = retryAfterSeconds ?? failure.code.retryAfterSeconds {
            headers.append(("Retry-After", String(seconds)))
        }
        var response = Response(
            status: failure.code.status, headers: headers,
            body: .bytes(JSON.encode(Problem(failure, requestID: id))))
        response.note = RequestNote(failure: failure)
        return response
    }

    static func refusal(_ refusal: Route.Refusal, id: String) -> Response {
        let allow = refusal.allow.map(\.description).joined(separator: ", ")
        return problem(refusal.failure, id: id, headers: allow.isEmpty ? [] : [("Allow", allow)])
    }

    /// `POST /v1/images`: the record of what was stored.
    static func created(_ record: PictureRecord) -> Response {
        json(201, record, headers: [("Location", record.url)])
    }

    /// `POST /v1/convert`: the JPEG itself, and beside it what the record would tell.
    static func converted(_ prepared: Prepared) -> Response {
        let report = prepared.report
        var headers = [
            ("Content-Type", "image/jpeg"), ("Cache-Control", "no-store"), ("X-Content-Type-Options", "nosniff"),
            ("ETag", EntityTag(prepared.sha256).description), ("Safelight-Path", report.path.rawValue),
        ]
        // A header without a value is one that proxies may drop: absent means none.
        let lists = [
            ("Safelight-Removed", report.removed.map(\.rawValue)), ("Safelight-Kept", report.kept.map(\.rawValue)),
            ("Safelight-Warnings", report.warnings.map(\.rawValue)),
        ]
        headers += lists.filter { !$1.isEmpty }.map { ($0, $1.joined(separator: ", ")) }
        return Response(status: 200, headers: headers, body: .file(FileBody(prepared.jpeg)))
    }

    /// `GET` and `HEAD /v1/images/{key}`, with the conditions and the range that the request states
    /// (RFC 9110, section 13.2.2 for their order).
    static func picture(_ object: StoredObject, _ head: RequestHead) throws(Failure) -> Response {
        let tag = EntityTag(object.sha256)
        let modified = object.storedAt.httpDate
        let validators = [
            ("ETag", tag.description), ("Last-Modified", modified),
            ("Cache-Control", "private, max-age=31536000, immutable"),
        ]
        let tags = head.headers.values("if-none-match")
        // A date later than ours cannot come from us, an earlier one is of no picture that was ever here: equality will
        // do.
        let isKnown =
            tags.isEmpty
            ? head.headers["if-modified-since"] == modified : tags.contains(where: tag.isMatched)
        if isKnown {
            // For its length, which must be told right or not at all (RFC 9110, section 8.6).
            return Response(status: 304, headers: validators, body: try untouched(object))
        }
        let headers =
            validators + [
                ("Content-Type", "image/jpeg"), ("Accept-Ranges", "bytes"), ("X-Content-Type-Options", "nosniff"),
            ]
        switch range(of: head, tag, count: object.count) {
        case .whole where head.method == .head:
            return Response(status: 200, headers: headers, body: try untouched(object))
        case .whole:
            return Response(status: 200, headers: headers, body: try read(object, 0..<object.count))
        case .part(let range):
            let told = "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(object.count)"
            return Response(
                status: 206, headers: headers + [("Content-Range", told)], body: try read(object, range))
        case .notSatisfiable:
            return problem(
                Failure(.rangeNotSatisfiable, "the picture has \(object.count) bytes"), id: head.id,
                headers: [("Content-Range", "bytes */\(object.count)")])
        }
    }

    private static func range(of head: RequestHead, _ tag: EntityTag, count: Int) -> ByteRange {
        // Only GET has ranges (RFC 9110, section 14.2), and only of the picture that the caller already has a part of.
        guard head.method == .get, head.headers["if-range"].map({ $0 == tag.description }) ?? true else {
            return .whole
        }
        return ByteRange(head.headers["range"], count: count)
    }

    /// In memory: whoever sends it must not wait for the store's disk.
    private static func read(_ object: StoredObject, _ range: Range<Int>) throws(Failure) -> Body {
        do { return .file(FileBody(try object.read(range))) } catch { throw Failure(error) }
    }

    /// For an answer that tells its length alone.
    private static func untouched(_ object: StoredObject) throws(Failure) -> Body {
        do { return .file(FileBody(adopting: try object.content.duplicate(), count: object.count)) } catch {
            throw Failure(.busy, "there is no room for this request now", diagnosis: error.description)
        }
    }
}
