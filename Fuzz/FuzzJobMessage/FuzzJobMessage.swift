import Core
import FuzzPromises

/// What goes over a worker's socket, read on both sides. What can be read is written to the same message again.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: data, count: count))
    if let job = try? JobMessage.decodeJob(bytes) {
        let written = JobMessage.encode(job)
        promise((try? JobMessage.decodeJob(written)) == job, "a job does not come back")
        promise(written.count <= JobMessage.bytesMax, "a job of \(written.count) bytes")
    }
    if let reply = try? JobMessage.decodeReply(bytes) {
        let written = JobMessage.encode(reply)
        promise((try? JobMessage.decodeReply(written)) == reply, "a reply does not come back")
        // What a worker can send is bounded before it is read; reading it makes nothing longer.
        promise(written.count <= 2 * count + 64, "\(count) bytes became \(written.count)")
    }
    return 0
}
