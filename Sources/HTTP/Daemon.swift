import CMicroHTTPD
import Glibc

/// Owns a running MHD_Daemon: its threads, its connections, and our hub that its callbacks are given.
struct Daemon: ~Copyable {
    private let raw: OpaquePointer
    private let hub: Unmanaged<Hub>

    private init(adopting raw: OpaquePointer, hub: Unmanaged<Hub>) {
        self.raw = raw
        self.hub = hub
    }

    /// Ends every connection and thread. No connection may be suspended.
    deinit {
        MHD_stop_daemon(raw)
        hub.release()
    }

    /// Likewise, where the moment matters.
    consuming func stop() {}

    /// - Parameter listener: a listening socket that outlives the daemon.
    static func starting(_ hub: Hub, listener: Int32) throws(ListenError) -> Daemon {
        let context = Unmanaged.passRetained(hub)
        let flags =
            MHD_USE_EPOLL_INTERNAL_THREAD.rawValue | MHD_ALLOW_SUSPEND_RESUME.rawValue | MHD_USE_ITC.rawValue
        let options = options(hub.configuration, listener: listener, context: context.toOpaque())
        let raw = options.withUnsafeBufferPointer { items in
            guard let items = items.baseAddress else { preconditionFailure("there are options") }
            return withVaList([MHD_OPTION.ARRAY.rawValue, items, MHD_OPTION.END.rawValue]) {
                MHD_start_daemon_va(flags, 0, nil, nil, onCall, context.toOpaque(), $0)
            }
        }
        guard let raw else {
            context.release()
            throw .library
        }
        return Daemon(adopting: raw, hub: context)
    }

    /// Accepts no more connections.
    borrowing func quiesce() { MHD_quiesce_daemon(raw) }

    /// No timeout of libmicrohttpd's own: it knows idle time only, and the watch knows that better. No strictness
    /// either: what it forgives is refused by our own rules, in our own words.
    private static func options(
        _ configuration: Configuration, listener: Int32, context: UnsafeMutableRawPointer
    ) -> [MHD_OptionItem] {
        func callback(_ option: MHD_OPTION, _ function: UnsafeRawPointer) -> MHD_OptionItem {
            MHD_OptionItem(option: option, value: Int(bitPattern: function), ptr_value: context)
        }
        func number(_ option: MHD_OPTION, _ value: Int) -> MHD_OptionItem {
            MHD_OptionItem(option: option, value: value, ptr_value: nil)
        }
        return [
            number(.LISTEN_SOCKET, Int(listener)),
            number(.THREAD_POOL_SIZE, configuration.threadCount),
            number(.CONNECTION_LIMIT, configuration.connectionsMax),
            number(.CONNECTION_MEMORY_LIMIT, configuration.connectionBytes),
            callback(.NOTIFY_CONNECTION, unsafeBitCast(onConnection, to: UnsafeRawPointer.self)),
            callback(.URI_LOG_CALLBACK, unsafeBitCast(onRequestLine, to: UnsafeRawPointer.self)),
            callback(.NOTIFY_COMPLETED, unsafeBitCast(onEnd, to: UnsafeRawPointer.self)),
            callback(.UNESCAPE_CALLBACK, unsafeBitCast(keepEscapes, to: UnsafeRawPointer.self)),
            number(.END, 0),
        ]
    }
}

// The callbacks. A connection's exchange is retained in libmicrohttpd's slot for it, from its first notice to its last.

private let onConnection: MHD_NotifyConnectionCallback = { context, connection, slot, code in
    guard let context, let connection, let slot else { return }
    let hub = Unmanaged<Hub>.fromOpaque(context).takeUnretainedValue()
    if code == .CONNECTION_NOTIFY_STARTED {
        let exchange = Exchange(connection: connection, hub: hub)
        slot.pointee = Unmanaged.passRetained(exchange).toOpaque()
        hub.add(exchange)
    } else if let raw = slot.pointee {
        slot.pointee = nil
        let exchange = Unmanaged<Exchange>.fromOpaque(raw).takeRetainedValue()
        exchange.closed()
        hub.remove(exchange)
    }
}

private typealias RequestLineCallback =
    @convention(c) (
        UnsafeMutableRawPointer?, UnsafePointer<CChar>?, OpaquePointer?
    ) -> UnsafeMutableRawPointer?

private let onRequestLine: RequestLineCallback = { _, target, connection in
    guard let target, let connection, let exchange = exchange(of: connection) else { return nil }
    exchange.requestLineCame(target: Array(UnsafeRawBufferPointer(start: target, count: strlen(target))))
    hideQuery(in: UnsafeMutablePointer(mutating: target))
    return nil
}

/// libmicrohttpd would make a list of the query's parameters, in memory that thousands of them use up: 0.9.75 then
/// spins. We read the query ourselves, so it gets an empty one. The text is its own buffer, which it is about to write
/// to.
private func hideQuery(in target: UnsafeMutablePointer<CChar>) {
    guard let mark = strchr(target, Int32(UInt8(ascii: "?"))) else { return }
    mark[1] = 0
}

private let onCall: MHD_AccessHandlerCallback = { _, connection, url, method, version, piece, size, _ in
    guard let connection, let url, let method, let version, let size, let exchange = exchange(of: connection) else {
        return .NO
    }
    if exchange.awaitsHead {
        let version11 = String(cString: version) != "HTTP/1.0"
        return exchange.headCame(
            RawHead(
                method: String(cString: method), isHTTP11: version11, targetSpan: version - url,
                connection: connection))
    }
    if size.pointee > 0 {
        let bytes = UnsafeRawBufferPointer(start: piece, count: size.pointee)
        size.pointee = 0
        return exchange.pieceCame(bytes)
    }
    return exchange.finalCall()
}

private let onEnd: MHD_RequestCompletedCallback = { _, connection, _, code in
    guard let connection, let exchange = exchange(of: connection) else { return }
    exchange.requestEnded(isWhole: code == .REQUEST_TERMINATED_COMPLETED_OK)
}

private typealias UnescapeCallback =
    @convention(c) (
        UnsafeMutableRawPointer?, OpaquePointer?, UnsafeMutablePointer<CChar>?
    ) -> Int

private let keepEscapes: UnescapeCallback = { _, _, text in text.map { strlen($0) } ?? 0 }

private func exchange(of connection: OpaquePointer) -> Exchange? {
    cmicrohttpd_context(connection).map { Unmanaged<Exchange>.fromOpaque($0).takeUnretainedValue() }
}
