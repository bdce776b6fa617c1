import Core
import HTTP

/// What a request asks for, as its method and target tell.
enum Route: Equatable {
    case upload(Options)
    case convert(Options)
    case inspect(Options)
    /// GET, and HEAD, which differs in nothing but the body.
    case fetch(ObjectKey)
    case delete(ObjectKey)
    case health
    case readiness
    case contract
    case front

    /// Why there is no route: the failure, and the methods that the path has where only the method is wrong.
    struct Refusal: Error, Equatable {
        let failure: Failure
        var allow: [Method] = []
    }

    init(_ head: RequestHead) throws(Refusal) {
        guard let place = Place(head.path) else {
            let meant = head.path.last == "" ? Place(Array(head.path.dropLast())) : nil
            let advice = meant.map { "; did you mean \($0.pattern)?" } ?? ""
            throw Refusal(failure: Failure(.notFound, "nothing is here" + advice))
        }
        guard place.methods.contains(head.method) else {
            let allowed = place.methods.map(\.description).joined(separator: ", ")
            throw Refusal(
                failure: Failure(
                    .methodNotAllowed, "\(head.method.description.clipped) is not allowed here; allowed are: \(allowed)"
                ),
                allow: place.methods)
        }
        do { self = try place.route(head) } catch { throw Refusal(failure: error) }
    }
}

/// A path of this service.
enum Place: Equatable {
    case images, convert, inspect, health, readiness, contract, front
    /// Nil where the last segment is no key.
    case image(ObjectKey?)

    /// - Parameter path: the decoded segments.
    init?(_ path: [String]) {
        switch path {
        case ["v1", "images"]: self = .images
        case ["v1", "convert"]: self = .convert
        case ["v1", "inspect"]: self = .inspect
        case ["healthz"]: self = .health
        case ["readyz"]: self = .readiness
        case ["openapi.yaml"]: self = .contract
        case []: self = .front
        default:
            guard path.count == 3, path.starts(with: ["v1", "images"]), !path[2].isEmpty else { return nil }
            self = .image(ObjectKey(path[2]))
        }
    }

    /// Where the picture with this key is, as `Location` and the record tell it.
    static func url(of key: ObjectKey) -> String { "/v1/images/\(key)" }

    /// The path as the contract writes it: what the log tells, since a real one may hold a key.
    var pattern: String {
        switch self {
        case .images: "/v1/images"
        case .convert: "/v1/convert"
        case .inspect: "/v1/inspect"
        case .health: "/healthz"
        case .readiness: "/readyz"
        case .contract: "/openapi.yaml"
        case .front: "/"
        case .image: "/v1/images/{key}"
        }
    }

    var methods: [Method] {
        switch self {
        case .images, .convert, .inspect: [.post]
        case .image: [.get, .head, .delete]
        case .health, .readiness, .contract, .front: [.get, .head]
        }
    }

    fileprivate func route(_ head: RequestHead) throws(Failure) -> Route {
        switch self {
        case .images: return .upload(try Options(head))
        case .convert: return .convert(try Options(head))
        case .inspect: return .inspect(try Options(head))
        case .image(let key):
            if let first = head.query.first {
                throw Failure(.badParameter, "unknown parameter '\(first.name.clipped)'; none is known here")
            }
            guard let key else { throw Failure(.notFound, "no picture has this key") }
            return head.method == .delete ? .delete(key) : .fetch(key)
        // Probes and browsers add what they like to these; there is nothing that it could change.
        case .health: return .health
        case .readiness: return .readiness
        case .contract: return .contract
        case .front: return .front
        }
    }
}

extension Options {
    fileprivate init(_ head: RequestHead) throws(Failure) {
        try self.init(parsing: head.query.map { ($0.name, $0.value) })
    }
}
