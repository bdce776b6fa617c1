import Foundation
import Support

/// A file system of a given size, mounted for the life of this value: a full disk and a read-only one for real.
final class TinyDisk: Sendable {
    let folder: ScratchFolder

    init(kilobytes: Int) throws {
        folder = try ScratchFolder()
        let outcome = try Tool.run(["mount", "-t", "tmpfs", "-o", "size=\(kilobytes)k", "tmpfs", folder.path])
        guard outcome.status == 0 else { throw NotPermitted(complaint: outcome.complaint) }
    }

    deinit { _ = try? Tool.run(["umount", folder.path]) }

    struct NotPermitted: Error {
        let complaint: String
    }

    /// Whether this process may mount at all: root with the capability, so not in every container.
    static let isPermitted = (try? TinyDisk(kilobytes: 64)) != nil

    func makeReadOnly() throws {
        let outcome = try Tool.run(["mount", "-o", "remount,ro", folder.path])
        guard outcome.status == 0 else { throw NotPermitted(complaint: outcome.complaint) }
    }
}
