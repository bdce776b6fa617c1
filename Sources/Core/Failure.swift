/// Why a request could not be met: a stable code for programs, a sentence for people.
package struct Failure: Error, Sendable, Equatable {
    /// The wire's words; also the labels in logs. Clients branch on these.
    package enum Code: String, Sendable, CaseIterable {
        case badParameter = "bad_parameter"
        case badRequest = "bad_request"
        case emptyBody = "empty_body"
        case notFound = "not_found"
        case methodNotAllowed = "method_not_allowed"
        case uploadTimeout = "upload_timeout"
        case bodyTooLarge = "body_too_large"
        case unsupportedMedia = "unsupported_media_type"
        case rangeNotSatisfiable = "range_not_satisfiable"
        case corrupt
        case truncated
        case tooManyPixels = "too_many_pixels"
        case undecodable
        case cropOutside = "crop_outside"
        case budgetUnreachable = "budget_unreachable"
        case selfCheckFailed = "self_check_failed"
        case internalError = "internal_error"
        case busy
        case stopping
        case storageUnavailable = "storage_unavailable"
        case storageFull = "storage_full"
    }

    package let code: Code
    /// What the client reads: names the value and the limit, never anything of the picture's metadata.
    package let detail: String
    /// What only the log reads (a library's own words), or nil.
    package let diagnosis: String?

    package init(_ code: Code, _ detail: String, diagnosis: String? = nil) {
        self.code = code
        self.detail = detail
        self.diagnosis = diagnosis
    }
}
