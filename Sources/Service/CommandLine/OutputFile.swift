import Glibc
import Posix

/// Where `safelight convert` puts its JPEG.
enum OutputFile {
    /// Refuses what would surely be regretted.
    static func check(_ path: String, against input: String) throws(Misuse) {
        if path == "-" {
            guard isatty(STDOUT_FILENO) == 0 else {
                throw Misuse(sentence: "refuses to write a JPEG to a terminal; give -o FILE or a pipe")
            }
        } else if let place = status(path), let source = status(input),
            place.st_dev == source.st_dev, place.st_ino == source.st_ino
        {
            throw Misuse(sentence: "input and output are one file; the original would be lost")
        }
    }

    /// Writes the JPEG: to a regular file whole or not at all, to anything else (a device, a pipe) as it comes.
    static func write(_ jpeg: SealedFile, to path: String) throws(PosixError) {
        if path == "-" {
            try fill(try StandardStreams.duplicate(STDOUT_FILENO), jpeg)
        } else if let place = status(path), place.st_mode & S_IFMT != S_IFREG {
            try fill(try Descriptor.open(path, O_WRONLY), jpeg)
        } else {
            try replace(resolved(path), by: jpeg)
        }
    }

    /// A new file beside the old one, renamed over it once it is complete.
    private static func replace(_ path: String, by jpeg: SealedFile) throws(PosixError) {
        let hidden = folder(of: path) + ".safelight-\(UInt64.random(in: 0 ... .max)).part"
        let file = try Descriptor.open(hidden, O_WRONLY | O_CREAT | O_EXCL, mode: 0o666)
        do {
            try fill(file, jpeg)
            // Some file systems tell only now that there was no room.
            try file.close()
            try syscall("rename") { rename(hidden, path) }
        } catch {
            unlink(hidden)
            throw error
        }
    }

    private static func fill(_ file: borrowing Descriptor, _ jpeg: SealedFile) throws(PosixError) {
        try jpeg.withBytes { bytes throws(PosixError) in try file.writeAll(bytes) }
    }

    /// The file itself where `path` is a symbolic link to it, so that the link stays.
    private static func resolved(_ path: String) -> String {
        guard let real = realpath(path, nil) else { return path }
        defer { free(real) }
        return String(cString: real)
    }

    /// The part of `path` up to its last slash, or nothing.
    private static func folder(of path: String) -> String {
        path.lastIndex(of: "/").map { String(path[...$0]) } ?? ""
    }

    private static func status(_ path: String) -> stat? {
        var status = stat()
        return stat(path, &status) == 0 ? status : nil
    }
}
