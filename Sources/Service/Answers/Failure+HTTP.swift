import Core

extension Failure.Code {
    /// The status that a failure is answered with (RFC 9110, section 15; 507 of RFC 4918).
    var status: Int {
        switch self {
        case .badParameter, .badRequest, .emptyBody: 400
        case .notFound: 404
        case .methodNotAllowed: 405
        case .uploadTimeout: 408
        case .bodyTooLarge: 413
        case .unsupportedMedia: 415
        case .rangeNotSatisfiable: 416
        case .corrupt, .truncated, .tooManyPixels, .undecodable, .cropOutside, .budgetUnreachable: 422
        case .selfCheckFailed, .internalError: 500
        case .busy, .stopping, .storageUnavailable: 503
        case .storageFull: 507
        }
    }

    /// Seconds after which a repetition may succeed, for `Retry-After`; nil where it would not by waiting.
    var retryAfterSeconds: Int? {
        switch self {
        case .busy: 1
        // Long enough for a load balancer to have turned to another replica.
        case .stopping: 5
        case .storageUnavailable: 10
        case .badParameter, .badRequest, .emptyBody, .notFound, .methodNotAllowed, .uploadTimeout, .bodyTooLarge,
            .unsupportedMedia, .rangeNotSatisfiable, .corrupt, .truncated, .tooManyPixels, .undecodable, .cropOutside,
            .budgetUnreachable, .selfCheckFailed, .internalError, .storageFull:
            nil
        }
    }

    /// How loud the log is about it: an error is a fault of ours, a warning is for an operator to act on, and what a
    /// client did wrong is neither.
    var level: Log.Level {
        switch self {
        case .selfCheckFailed, .internalError: .error
        case .storageUnavailable, .storageFull: .warning
        case .badParameter, .badRequest, .emptyBody, .notFound, .methodNotAllowed, .uploadTimeout, .bodyTooLarge,
            .unsupportedMedia, .rangeNotSatisfiable, .corrupt, .truncated, .tooManyPixels, .undecodable, .cropOutside,
            .budgetUnreachable, .busy, .stopping:
            .info
        }
    }
}

/// The body of an error answer (RFC 9457). Its `type` is left at `about:blank`: programs branch on `code`.
struct Problem: Encodable, Equatable {
    let type = "about:blank"
    let title: String
    let status: Int
    let code: String
    let detail: String
    let requestID: String

    enum CodingKeys: String, CodingKey {
        case type, title, status, code, detail
        case requestID = "request_id"
    }

    init(_ failure: Failure, requestID: String) {
        status = failure.code.status
        title = Problem.title(status: failure.code.status)
        code = failure.code.rawValue
        detail = failure.detail
        self.requestID = requestID
    }

    /// The status's own phrase, as RFC 9457, section 4.2.1, asks for with `about:blank`.
    private static func title(status: Int) -> String {
        switch status {
        case 400: "Bad Request"
        case 404: "Not Found"
        case 405: "Method Not Allowed"
        case 408: "Request Timeout"
        case 413: "Content Too Large"
        case 415: "Unsupported Media Type"
        case 416: "Range Not Satisfiable"
        case 422: "Unprocessable Content"
        case 503: "Service Unavailable"
        case 507: "Insufficient Storage"
        default: "Internal Server Error"
        }
    }
}
