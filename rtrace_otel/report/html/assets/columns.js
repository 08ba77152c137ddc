"use strict";
/** Unpacks what `columns.py` packed. */
(() => {
  /** The bytes of a gzip that stands in the page as base64. */
  async function unzip(text) {
    const packed = Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
    const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
    return new Uint8Array(await new Response(stream).arrayBuffer());
  }

  /** Whole numbers whose bytes lie in planes, lowest first. */
  function unsigned(bytes, offset, rows, width) {
    const values = new Uint32Array(rows);
    for (let plane = 0; plane < width; plane++) {
      const start = offset + plane * rows;
      for (let row = 0; row < rows; row++) {
        values[row] |= bytes[start + row] << (8 * plane);
      }
    }
    return values;
  }

  const readers = {
    steps(bytes, offset, rows, column) {
      const stored = unsigned(bytes, offset, rows, column.width);
      const values = new Float64Array(rows);
      for (let row = 0; row < rows; row++) {
        values[row] = stored[row] === 0 ? NaN : (column.base + stored[row] - 1) * column.unit;
      }
      return values;
    },
    floats(bytes, offset, rows) {
      const values = new DataView(new ArrayBuffer(8 * rows));
      for (let plane = 0; plane < 8; plane++) {
        const start = offset + plane * rows;
        for (let row = 0; row < rows; row++) {
          values.setUint8(8 * row + plane, bytes[start + row]);
        }
      }
      return Float64Array.from({ length: rows }, (_, row) => values.getFloat64(8 * row, true));
    },
    texts(bytes, offset, rows, column) {
      const stored = unsigned(bytes, offset, rows, column.width);
      const values = new Array(rows);
      for (let row = 0; row < rows; row++) {
        values[row] = stored[row] === 0 ? null : column.texts[stored[row] - 1];
      }
      return values;
    },
  };

  /** A packed table as `{rows, NAME: values}`. */
  async function unpack(text) {
    const bytes = await unzip(text);
    const length = new DataView(bytes.buffer).getUint32(0, true);
    const header = JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + length)));
    const table = { rows: header.rows };
    let offset = 4 + length;
    for (const column of header.columns) {
      table[column.name] = readers[column.kind](bytes, offset, header.rows, column);
      offset += column.width * header.rows;
    }
    return table;
  }

  /** A packed JSON value. */
  async function unpackJson(text) {
    return JSON.parse(new TextDecoder().decode(await unzip(text)));
  }

  rtrace.unpack = unpack;
  rtrace.unpackJson = unpackJson;
})();
