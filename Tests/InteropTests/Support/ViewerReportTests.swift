import Foundation
import Testing

/// That the fields of the viewers' report arrive under Swift's names.
struct ViewerReportTests {
    @Test("A report of a picture with sound is read whole")
    func pictureWithSound() throws {
        let report = try decode(
            """
            {"viewer": "Chromium", "error": null, "errors": [], "answer_written_ms": 1.5,
             "tracks": [{"kind": "audio", "id": "t", "mid": "1", "streams": ["alice#content"],
                         "events": [{"event": "unmute", "at_ms": 4.5}]}],
             "negotiations": [{"offer_ms": 1, "answer_ms": 1.5}], "width": 640, "height": 360, "snapshots": [],
             "videos": [{"id": "v", "mid": "0", "stream": "alice#content", "events": [], "flashes_ms": [9000],
                         "sizes": [{"at_ms": 5, "width": 640, "height": 360}], "snapshots": [], "frames": 235,
                         "fps": 29.2, "width": 640, "height": 360, "first_frame_ms": 5, "last_frame_ms": null,
                         "gaps": [{"at_ms": 7, "gap_ms": 233.4}], "av_offsets_ms": [12.5],
                         "av_offset_median_ms": 12.5, "av_offset_settled_ms": null}],
             "sounds": [{"id": "a", "mid": "1", "stream": "alice#content", "events": [], "first_sound_ms": 6,
                         "seconds": 7.98, "rms_dbfs": -17.3, "peak_frequency_hz": 440, "channels": 2,
                         "left": {"rms_dbfs": -15.9, "peak_frequency_hz": 440},
                         "right": {"rms_dbfs": -120, "peak_frequency_hz": null},
                         "energy_dbfs": [-19.0], "beeps_ms": [9012.5]}],
             "av_clock": "playout", "av_offsets_ms": [12.5], "av_offset_median_ms": 12.5,
             "av_offset_settled_ms": 11.5, "playout_offsets_ms": [], "playout_offset_median_ms": null, "frames": 235}
            """)
        let video = try #require(report.video(of: "alice#content"))
        let sound = try #require(report.sound(of: "alice#content"))
        #expect(report.avOffsetMedianMs == 12.5 && report.avOffsetSettledMs == 11.5)
        #expect(report.avClock == "playout" && report.negotiations?.count == 1)
        #expect(report.tracks.first?.events?.first?.event == "unmute")
        #expect(video.gaps.first?.gapMs == 233.4 && video.sizes.first?.width == 640 && video.avOffsetsMs == [12.5])
        #expect(sound.peakFrequencyHz == 440 && sound.rmsDbfs == -17.3 && sound.channels == 2)
        #expect(sound.right.peakFrequencyHz == nil && sound.energyDbfs == [-19] && sound.beepsMs == [9012.5])
        #expect(report.video(of: "alice") == nil && report.sound(of: "alice") == nil)
    }

    @Test("A report of a picture alone is read as before")
    func pictureAlone() throws {
        let report = try decode(
            """
            {"viewer": "GStreamer", "error": null, "tracks": [{"kind": "video", "streams": ["alice#content"]}],
             "width": 1280, "height": 720, "snapshots": [{"file": "frame-0.png", "at_ms": 2.5}]}
            """)
        #expect(report.tracks.first?.streams == ["alice#content"] && report.videos == nil && report.avClock == nil)
    }

    private func decode(_ text: String) throws -> ViewerReport {
        try JSONDecoder.forViewerReports.decode(ViewerReport.self, from: Data(text.utf8))
    }
}
