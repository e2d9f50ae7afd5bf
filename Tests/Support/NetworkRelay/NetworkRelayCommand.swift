internal import ArgumentParser
internal import Foundation
internal import Glibc
internal import RTCShareNetworkSimulation
internal import RTCShareWireFormat

/// Forwards UDP between two ends on this machine with the conditions of a worse network.
@main
struct NetworkRelayCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "NetworkRelay",
        abstract: "Forward UDP between two ends of this machine with rate, queue, delay, jitter and loss.",
        discussion: """
            Prints the ports of its two sockets, "left PORT" and "right PORT". What comes to the left one is sent on to \
            --to from the right one, and what that end answers goes back to whoever sent to the left one last. The rate \
            is that of the way from left to right. At the end it tells on stderr what became of the datagrams, and as a line of \
            JSON on stdout what they had of the path from 5 s on. SIGTERM is its end too.
            """)

    @Option(help: ArgumentHelp("The right end, of this machine.", valueName: "address:port"))
    var to: String

    @Option(help: "The sockets' address, of this machine. Some ends send nothing to a loopback address.")
    var address = "127.0.0.1"

    @Option(
        help: ArgumentHelp(
            "What passes, in kbit/s: from the first datagram, and from seconds after it on.",
            valueName: "kbps[,seconds:kbps]…"))
    var rate = "1000000"

    @Option(help: "What may wait, in milliseconds at the rate of the moment.")
    var queue = 300

    @Option(help: "One way, in milliseconds.")
    var delay = 0

    @Option(help: "The standard deviation of what is added to the delay, in milliseconds. It reorders nothing.")
    var jitter = 0

    @Option(help: "The share of datagrams that vanish, each way, 0 to 1.")
    var loss = 0.0

    @Option(help: "How many datagrams in a row vanish, in the mean; 1 for no bursts.")
    var burst = 1.0

    @Option(help: ArgumentHelp("Lose each of so many datagrams from left to right, beside chance.", valueName: "count"))
    var lossInterval: Int?

    @Option(help: ArgumentHelp("How many datagrams come before the first of these.", valueName: "count"))
    var lossStart = 0

    @Flag(help: "Have a long TCP flow, which is simulated, share the way from left to right from 5 s on.")
    var tcp = false

    @Option(help: "Of the chances.")
    var seed: UInt64 = 1

    @Option(help: "Seconds after which it ends.")
    var duration = 3600.0

    private var steps: [(from: Duration, rate: DataRate)]? {
        let steps = rate.split(separator: ",").enumerated().map { index, step -> (from: Duration, rate: DataRate)? in
            let parts = step.split(separator: ":")
            guard parts.count == (index == 0 ? 1 : 2), let kilobits = Int(parts[parts.count - 1]), kilobits >= 0,
                let from = index == 0 ? 0 : Double(parts[0]), from >= 0
            else { return nil }
            return (.seconds(from), .kilobitsPerSecond(kilobits))
        }
        return steps.isEmpty || steps.contains { $0 == nil } ? nil : steps.compactMap { $0 }
    }

    private var end: LoopbackSocket.Address? {
        let parts = to.split(separator: ":")
        guard parts.count == 2, let host = Self.host(parts[0]) else { return nil }
        return UInt16(parts[1]).map { LoopbackSocket.Address(host: host, port: $0) }
    }

    private static func host(_ text: some StringProtocol) -> UInt32? {
        var host = in_addr()
        return inet_pton(AF_INET, String(text), &host) == 1 ? UInt32(bigEndian: host.s_addr) : nil
    }

    func validate() throws {
        guard end != nil else { throw ValidationError("--to is an IPv4 address and a port, as in 127.0.0.1:5000") }
        guard Self.host(address) != nil else { throw ValidationError("--address is an IPv4 address") }
        guard steps != nil else {
            throw ValidationError("--rate is kbit/s, then seconds:kbit/s for each change, as in 1000,40:2500,60:600")
        }
        guard lossInterval ?? 1 > 0 else { throw ValidationError("the loss interval is 1 or more") }
        guard queue >= 0, delay >= 0, jitter >= 0, (0...1).contains(loss), burst >= 1, duration > 0 else {
            throw ValidationError(
                "queue, delay and jitter are 0 or more, loss is 0 to 1, burst is 1 or more, duration is above 0")
        }
    }

    func run() throws {
        guard let end, let steps, let host = Self.host(address) else { return }
        let relay = try Relay(
            to: end, on: host,
            .init(
                steps: steps, queue: .milliseconds(queue),
                path: .init(
                    delay: .milliseconds(delay), jitter: .milliseconds(jitter), forwardLoss: loss, backwardLoss: loss,
                    lossBurst: burst), lossInterval: lossInterval, lossStart: lossStart, hasDownload: tcp, seed: seed))
        FileHandle.standardOutput.write(Data("left \(relay.left.port)\nright \(relay.right.port)\n".utf8))
        relay.run(for: .seconds(duration))
        FileHandle.standardOutput.write(try JSONEncoder().encode(relay.use.summary) + Data("\n".utf8))
        let (forward, backward) = (relay.counters.forward, relay.counters.backward)
        for (name, counts) in [("forward", forward), ("backward", backward)] {
            let line = "\(name): \(counts.delivered) delivered, \(counts.lost) lost, \(counts.dropped) dropped\n"
            FileHandle.standardError.write(Data(line.utf8))
        }
    }
}
