import Core
import HTTP
import Storage

extension Failure {
    static let emptyBody = Failure(.emptyBody, "the body is empty; send the photo's bytes")

    static let unknownKind = Failure(
        .unsupportedMedia,
        "this begins like no picture that is known; accepted are HEIC (HEIF coded as HEVC) and JPEG")

    /// What the server itself refuses or fails at, in the words of this service.
    init(_ problem: HTTPProblem) {
        switch problem {
        case .badRequest(let reason): self.init(.badRequest, reason)
        case .bodyTooLarge(limit: 0, _): self.init(.bodyTooLarge, "this request takes no body")
        case .bodyTooLarge(let limit, let declared?):
            self.init(.bodyTooLarge, "the body has \(declared) bytes, and \(limit) are the limit")
        case .bodyTooLarge(let limit, nil): self.init(.bodyTooLarge, "the body is over the limit of \(limit) bytes")
        case .uploadTimeout(let headMs, let bytesPerSecondMin, let bodyMs):
            self.init(
                .uploadTimeout,
                "the request came too slowly: its head must be there within \(headMs) ms, and its body come at "
                    + "\(bytesPerSecondMin) bytes a second or more and within \(bodyMs / 1000) s")
        case .stopping: self.init(.stopping, "the service is stopping")
        case .noMemory:
            self.init(
                .busy, "there is no room for this request now",
                diagnosis: "no memory file could be made or filled, or no descriptor was left")
        case .bodiesFull: self.init(.busy, "other uploads hold all the memory that there is for them")
        case .receivingFull: self.init(.busy, "more uploads are on their way than there is room for")
        case .answersFull: self.init(.busy, "answers to others hold all the memory that there is for them")
        case .internalError: self.init(.internalError, "the answer could not be sent")
        }
    }

    init(_ error: StoreError) {
        switch error {
        case .exists:
            self.init(.internalError, "the picture could not be stored", diagnosis: "a new key was already taken")
        case .full(let diagnosis): self.init(.storageFull, "the store has no room left", diagnosis: diagnosis)
        case .unavailable(let diagnosis):
            self.init(.storageUnavailable, "the store cannot be used now", diagnosis: diagnosis)
        }
    }

    /// The same failure, with help for the usual mistakes: a client that was made for forms, and curl's `-d`, which leaves
    /// out every line feed.
    func advising(_ head: RequestHead) -> Failure {
        let type = head.headers["content-type"]?.lowercased() ?? ""
        if code == .unsupportedMedia, type.hasPrefix("multipart/") {
            return Failure(
                code, "a multipart form is not taken; send the photo's raw bytes as the body (curl --data-binary @FILE)"
            )
        }
        if self == .unknownKind, type.hasPrefix("application/x-www-form-urlencoded") {
            return Failure(code, "\(detail), as the file's raw bytes (curl --data-binary @FILE, not -d)")
        }
        return self
    }
}
