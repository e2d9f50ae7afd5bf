import RTCShareMedia

/// Each plane's samples, without what pads the rows.
func samples(_ picture: any PixelPlanes) -> [[UInt8]] {
    picture.withPlanes { set in
        (0..<picture.format.planeCount).map { plane in
            let extent = picture.format.planeExtent(plane, of: picture.size)
            return (0..<extent.rows).flatMap { row in
                Array(set.planes[plane][row * set.strides[plane]..<row * set.strides[plane] + extent.rowBytes])
            }
        }
    }
}

extension PixelBuffer {
    /// Plane after plane, without what lies between rows.
    var pixels: [[UInt8]] {
        withPlanes { set in
            set.planes.indices.map { plane in
                let extent = format.planeExtent(plane, of: size)
                return (0..<extent.rows).flatMap { row in
                    Array(set.planes[plane][row * set.strides[plane]..<row * set.strides[plane] + extent.rowBytes])
                }
            }
        }
    }
}
