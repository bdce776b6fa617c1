import Foundation

/// A file system of a given size, mounted for the life of this value: a full disk and a read-only one for real.
package final class TinyDisk: Sendable {
    package let folder: ScratchFolder

    package init(kilobytes: Int) throws {
        folder = try ScratchFolder()
        let outcome = try Tool.run(["mount", "-t", "tmpfs", "-o", "size=\(kilobytes)k", "tmpfs", folder.path])
        guard outcome.status == 0 else { throw NotPermitted(complaint: outcome.complaint) }
    }

    deinit { _ = try? Tool.run(["umount", folder.path]) }

    package struct NotPermitted: Error {
        package let complaint: String
    }

    /// Whether this process may mount at all: root with the capability, so not in every container.
    package static let isPermitted = (try? TinyDisk(kilobytes: 64)) != nil

    package func makeReadOnly() throws {
        let outcome = try Tool.run(["mount", "-o", "remount,ro", folder.path])
        guard outcome.status == 0 else { throw NotPermitted(complaint: outcome.complaint) }
    }
}
