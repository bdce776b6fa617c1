import Glibc
import Posix
import Synchronization
import Testing

@Suite struct ThreadTests {
    @Test func eventCounterLetsAsManyGoOn() throws {
        let counter = try EventCounter.make()
        #expect(waitReadable([counter.descriptor.raw], untilMs: 0) == [false])
        counter.signal(count: 2)
        for isLeft in [true, false] {
            counter.wait()
            #expect(waitReadable([counter.descriptor.raw], untilMs: 0) == [isLeft])
        }
    }

    @Test func pollTellsWhichAndKeepsTheDeadline() throws {
        let counters = try [EventCounter.make(), EventCounter.make()]
        let descriptors = counters.map { $0.descriptor.raw }
        let startMs = Clock.monotonicMs()
        #expect(waitReadable(descriptors, untilMs: startMs + 30) == [false, false])
        #expect(Clock.monotonicMs() - startMs >= 30)
        counters[1].signal()
        #expect(waitReadable(descriptors, untilMs: nil) == [false, true])
    }

    @Test func semaphoreLetsAsManyGoOn() throws {
        let (full, empty) = (Semaphore(count: 2), Semaphore())
        let passed = Mutex(0)
        let group = ThreadGroup()
        for _ in 0..<5 {
            try group.start("waits") {
                full.wait()
                passed.withLock { $0 += 1 }
                empty.signal()
            }
        }
        for _ in 0..<2 { empty.wait() }
        #expect(passed.withLock { $0 } == 2)
        for _ in 0..<3 { full.signal() }
        group.join()
        #expect(passed.withLock { $0 } == 5)
    }

    @Test func groupWaitsForAllItsThreads() throws {
        let group = ThreadGroup()
        let names = Mutex<Set<String?>>([])
        for index in 0..<3 {
            try group.start("test-\(index)") {
                usleep(20_000)
                let name = try? text("/proc/thread-self/comm")
                names.withLock { $0.formUnion([name]) }
            }
        }
        group.join()
        #expect(names.withLock { $0 } == ["test-0\n", "test-1\n", "test-2\n"])
        group.join()
    }

    @Test func runsInTheOrderOfSubmission() throws {
        let work = try WorkThreads.start(name: "test", threadCount: 1, queueLengthMax: 100)
        let seen = Mutex<[Int]>([])
        for index in 0..<100 { #expect(work.submit { seen.withLock { $0.append(index) } }) }
        work.stop()
        #expect(seen.withLock { $0 } == Array(0..<100))
    }

    @Test func runsAsManyAtOnceAsThereAreThreads() throws {
        let work = try WorkThreads.start(name: "test", threadCount: 3, queueLengthMax: 3)
        let arrived = try EventCounter.make()
        let leave = try EventCounter.make()
        for _ in 0..<3 {
            #expect(
                work.submit {
                    arrived.signal()
                    leave.wait()
                })
        }
        for _ in 0..<3 { arrived.wait() }
        leave.signal(count: 3)
        work.stop()
    }

    @Test func refusesWhatItHasNoRoomFor() throws {
        let work = try WorkThreads.start(name: "test", threadCount: 1, queueLengthMax: 2)
        let arrived = try EventCounter.make()
        let leave = try EventCounter.make()
        let count = Atomic(0)
        #expect(
            work.submit {
                arrived.signal()
                leave.wait()
            })
        arrived.wait()
        for isTaken in [true, true, false] {
            #expect(work.submit { count.add(1, ordering: .relaxed) } == isTaken)
        }
        leave.signal()
        work.stop()
        #expect(count.load(ordering: .relaxed) == 2)
        #expect(!work.submit {})
        work.stop()
    }
}
