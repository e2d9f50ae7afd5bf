internal import ArgumentParser
internal import Foundation
internal import RTCShareMedia
internal import RTCShareVideoCoding
internal import RTCShareWireFormat

/// The cost and the quality of a camera's video, by the encoder's settings.
struct CameraCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "camera",
        abstract: "Encode pictures as of a camera with libvpx's settings for them, and with others.",
        discussion: """
            A film is given to an encoder in its own time, 30 pictures a second, with the noise of a sensor over it; what is \
            decoded is compared with the film without the noise. Processor time is of the whole process, a picture.

            The film is drawn here: somebody who sways before a wall. --film gives others, as y4m.
            """)

    @Option(help: ArgumentHelp("y4m files, beside the film that is drawn here.", valueName: "file"))
    var film: [String] = []

    @Option(help: ArgumentHelp("Bitrates, separated by commas.", valueName: "kbit/s,…"))
    var bitrates = "300,800"

    @Option(help: ArgumentHelp("Deviations of the noise, in levels of 256, separated by commas.", valueName: "…"))
    var noises = "0,3,6"

    @Option(help: "Pictures of each film.")
    var pictures = 210

    @Option(help: ArgumentHelp("Ways to encode, separated by commas; all where none is given.", valueName: "…"))
    var ways: String?

    func run() throws {
        let chosen = ways.map { $0.split(separator: ",").map(String.init) }
        print(CameraResultRow.heading)
        for noise in noises.split(separator: ",").compactMap({ Double($0) }) {
            var films = [
                CameraFilm(size: PixelSize(width: 1280, height: 720), count: pictures, noise: noise, seed: 1)
            ]
            films += try film.map { try CameraFilm(path: $0, count: pictures, noise: noise, seed: 1) }
            for film in films {
                for bitrate in bitrates.split(separator: ",").compactMap({ Int($0) }) {
                    for way in CameraWay.all where chosen?.contains(way.name) ?? true {
                        let result = try CameraRun(
                            film: film, codec: way.codec,
                            settings: .init(bitrate: .kilobitsPerSecond(bitrate), hint: .motion)
                        ).run()
                        print(
                            CameraResultRow(film: film, noise: noise, bitrate: bitrate, way: way, result: result).text)
                    }
                }
            }
        }
    }
}
