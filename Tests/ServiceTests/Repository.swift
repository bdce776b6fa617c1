import Foundation

/// The repository that the tests stand in.
enum Repository {
    static func file(_ path: String) -> URL {
        URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent(path)
    }
}
