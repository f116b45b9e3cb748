-- Record sets: batches of magic 2, and messages of magic 0 and 1, compressed or not.

local CLOCKS = { [0] = "CreateTime", "LogAppendTime" }

local function record_field(kind, name, ...)
  return field(kind, name, name:match("[^.]+$"), ...)
end

local BATCH = { -- of magic 2: field, where it stands, its bytes
  { record_field("int64", "batch.base_offset"), 0, 8 },
  { record_field("int32", "batch.batch_length"), 8, 4 },
  { record_field("int32", "batch.partition_leader_epoch"), 12, 4 },
  { record_field("int8", "batch.magic"), 16, 1 },
  { record_field("uint32", "batch.crc", base.HEX), 17, 4 },
  { record_field("uint16", "batch.attributes", base.HEX), 21, 2 },
  { record_field("uint16", "batch.compression", base.DEC, CODECS, 0x07), 21, 2 },
  { record_field("uint16", "batch.timestamp_type", base.DEC, CLOCKS, 0x08), 21, 2 },
  { record_field("bool", "batch.is_transactional", 16, nil, 0x10), 21, 2 },
  { record_field("bool", "batch.is_control", 16, nil, 0x20), 21, 2 },
  { record_field("bool", "batch.has_delete_horizon", 16, nil, 0x40), 21, 2 },
  { record_field("int32", "batch.last_offset_delta"), 23, 4 },
  { record_field("int64", "batch.base_timestamp"), 27, 8 },
  { record_field("int64", "batch.max_timestamp"), 35, 8 },
  { record_field("int64", "batch.producer_id"), 43, 8 },
  { record_field("int16", "batch.producer_epoch"), 51, 2 },
  { record_field("int32", "batch.base_sequence"), 53, 4 },
  { record_field("int32", "batch.records_count"), 57, 4 },
}
local MESSAGE = { -- of magic 0 and 1
  { record_field("int64", "message.offset"), 0, 8 },
  { record_field("int32", "message.size"), 8, 4 },
  { record_field("uint32", "message.crc", base.HEX), 12, 4 },
  { record_field("int8", "message.magic"), 16, 1 },
  { record_field("uint8", "message.attributes", base.HEX), 17, 1 },
  { record_field("uint8", "message.compression", base.DEC, CODECS, 0x07), 17, 1 },
}
local CLOCK = record_field("uint8", "message.timestamp_type", base.DEC, CLOCKS, 0x08)
local MESSAGE_TIMESTAMP = record_field("int64", "message.timestamp")
local MESSAGE_KEY = record_field("bytes", "message.key")
local CUT = field("bytes", "batch.cut", "part of a batch")
local COMPRESSED = field("bytes", "batch.compressed", "compressed records")
local OFFSET = record_field("int64", "record.offset")
local TIMESTAMP = record_field("int64", "record.timestamp")
local KEY = record_field("bytes", "record.key")
local VALUE = record_field("bytes", "record.value")
local BATCH_FIELD, MESSAGE_FIELD = field("none", "batch"), field("none", "message")
local RECORD = field("none", "record")
local HEADER = field("string", "record.header", "header")
local HEADER_VALUE = record_field("bytes", "record.header.value")
local OVERHEAD = { [0] = 26, 34, 61 }

local read_kafkas_own -- a record of an internal topic, or a control record; in inside.lua

local function varlong(r) -- zigzag, up to 64 bits; a number, or an Int64 where that is not exact
  local start, low, high, scale = r.at, 0, 0, 1
  for i = start + 1, start + 10 do
    if i > r.stop then
      fail(r, "a varint is cut off")
    end
    local b = byte(r.raw, i)
    local bits, nth = b % 128, i - start
    if nth <= 4 then
      low = low + bits * scale
    elseif nth == 5 then
      low, high, scale = low + bits % 16 * scale, floor(bits / 16), 1 / 16
    else
      high = high + bits * scale
    end
    scale = scale * 128
    if b < 128 then
      r.at = i
      local sign = low % 2
      high = floor(high) % 0x100000000
      low = (low - sign) / 2 + high % 2 * 0x80000000
      high = floor(high / 2)
      if high < 0x100000 then
        local value = floor(high * 0x100000000 + low)
        return sign == 0 and value or -value - 1
      elseif sign == 1 then
        low, high = 0xFFFFFFFF - low, 0xFFFFFFFF - high
      end
      return Int64.new(floor(low), floor(high))
    end
  end
  fail(r, "a varint goes on after 10 bytes")
end

local function size_of(r, what) -- a varint in front of bytes; nil: null
  local start, size = r.at, varlong(r)
  if type(size) ~= "number" or size > r.stop - r.at then
    r.at = start
    fail(r, format("%s bytes announced for %s, %d remain", tostring(size), what, r.stop - r.at))
  end
  return size >= 0 and size or nil
end

local function printable(raw) -- as text to be shown; nil: it is none
  return #raw <= 80 and #raw > 0 and not raw:find("[^\32-\126]") and raw or nil
end

local function read_blob(r, tree, of, name, size) -- gives the branch, and a reader of the bytes
  if not size then
    tree:add(NULL, r.tvb(r.at, 0), name, name .. ": null")
    return
  end
  local inner, leaf = part(r, size), tree:add(of, r.tvb(r.at, size))
  local text = printable(sub(r.raw, r.at + 1, r.at + size))
  if text then
    leaf:append_text(format(' "%s"', text))
  end
  r.at = r.at + size
  return leaf, inner
end

local function read_record(r, tree, batch)
  count_item(r)
  local start = r.at
  local size = size_of(r, "a record") or fail(r, "a record of less than no bytes")
  local inner = part(r, size)
  local leaf = tree:add(RECORD, r.tvb(start, r.at - start + size))
  int(inner, 1, "attributes")
  local at = inner.at
  local timestamp = batch.timestamp + varlong(inner)
  leaf:add(TIMESTAMP, r.tvb(at, inner.at - at), batch.append_time or timestamp)
  at = inner.at
  local offset = batch.offset + varlong(inner)
  leaf:add(OFFSET, r.tvb(at, inner.at - at), offset)
  leaf:append_text(format(" at offset %s", tostring(offset)))
  local key_leaf, key = read_blob(inner, leaf, KEY, "key", size_of(inner, "a key"))
  local value_leaf, value = read_blob(inner, leaf, VALUE, "value", size_of(inner, "a value"))
  at = inner.at
  local count = varlong(inner)
  if type(count) ~= "number" or count < 0 or count > inner.stop - inner.at then
    inner.at = at
    fail(inner, format("%s headers announced, %d bytes remain", tostring(count), inner.stop - inner.at))
  end
  for _ = 1, count do
    count_item(inner)
    local name_size = size_of(inner, "a header's key") or fail(inner, "null, where a header's key is expected")
    local header = leaf:add_packet_field(HEADER, r.tvb(inner.at, name_size), ENC_UTF_8)
    inner.at = inner.at + name_size
    read_blob(inner, header, HEADER_VALUE, "value", size_of(inner, "a header's value"))
  end
  if inner.at < inner.stop then
    fail(inner, format("%d bytes behind the record", inner.stop - inner.at))
  end
  r.at = inner.at
  if key or value then
    read_kafkas_own(batch.control, key_leaf, key, value_leaf, value)
  end
end

local function read_records(r, tree, batch)
  for _ = 1, batch.count do
    read_record(r, tree, batch)
  end
  if r.at < r.stop then
    fail(r, format("%d bytes behind the last record", r.stop - r.at))
  end
end

local function read_compressed(r, tree, codec, read, ...)
  local leaf = tree:add(COMPRESSED, r.tvb(r.at, r.stop - r.at))
  leaf:append_text(format(" (%s)", CODECS[codec] or "unknown codec"))
  if not CODECS[codec] or codec == 4 and not HAS_ZSTD or r.at == r.stop then
    return
  end
  local fine, inner = pcall(decompressed, r, codec)
  if fine then
    guarded(inner, leaf, read, ...)
  else
    leaf:add_proto_expert_info(MALFORMED, format("what was compressed can't be read: %s", tostring(inner)))
  end
end

local function add_all(r, tree, all)
  for _, each in ipairs(all) do
    tree:add(each[1], r.tvb(r.at + each[2], each[3]))
  end
end

local function read_batch(r, tree)
  add_all(r, tree, BATCH)
  local start = r.at
  local attributes = byte(r.raw, start + 23)
  local count = peek(r, 57, 4)
  local batch = {
    offset = r.tvb(start, 8):int64(),
    timestamp = r.tvb(start + 27, 8):int64(),
    append_time = floor(attributes / 8) % 2 == 1 and r.tvb(start + 35, 8):int64() or nil,
    control = floor(attributes / 32) % 2 == 1,
    count = count,
  }
  r.at = start + 61
  tree:append_text(format(": offset %s, %d record%s", tostring(batch.offset), count, count == 1 and "" or "s"))
  if count < 0 or attributes % 8 == 0 and count > r.stop - r.at then
    fail(r, format("%d records announced, %d bytes remain", count, r.stop - r.at))
  elseif count > 0 and attributes % 8 == 0 then
    read_records(r, tree, batch)
  elseif count > 0 then
    read_compressed(r, tree, attributes % 8, read_records, batch)
  end
end

-- The values of a wrapper for its messages. In magic 1 their offsets count from 0, and the wrapper has the
-- offset of the last one; old librdkafka wrote 0.
local function wrapper_of(r, magic, attributes)
  local wrapper = { offset = r.tvb(r.at, 8):int64(), magic = magic }
  if magic == 1 and floor(attributes / 8) % 2 == 1 then
    wrapper.append_time = r.tvb(r.at + 18, 8):int64()
  end
  return wrapper
end

local function first_offset(r, wrapper)
  local last, at = nil, r.at
  while r.stop - r.at >= 12 do
    last = r.tvb(r.at, 8):int64()
    local size = peek(r, 8, 4)
    r.at = r.at + (size > 0 and size or r.stop) + 12
  end
  r.at = at
  if wrapper.magic == 1 and last and wrapper.offset ~= Int64.new(0) then
    return wrapper.offset - last
  end
  return Int64.new(0)
end

local read_set

local function read_wrapped(r, tree, wrapper)
  wrapper.first = first_offset(r, wrapper)
  read_set(r, tree, wrapper)
end

local function read_message(r, tree, magic, wrapper)
  add_all(r, tree, MESSAGE)
  local attributes, offset = byte(r.raw, r.at + 18), r.tvb(r.at, 8)
  local codec, around = attributes % 8, wrapper_of(r, magic, attributes)
  local absolute = around.offset + (wrapper and wrapper.first or 0)
  tree:append_text(": offset " .. tostring(absolute))
  if wrapper and codec ~= 0 then
    fail(r, "a wrapper inside a wrapper")
  end
  r.at = r.at + 18
  if magic == 1 then
    local range = r.tvb(r.at, 8)
    tree:add(CLOCK, r.tvb(r.at - 1, 1))
    tree:add(MESSAGE_TIMESTAMP, range)
    if codec == 0 then
      tree:add(TIMESTAMP, range, wrapper and wrapper.append_time or range:int64())
    end
    r.at = r.at + 8
  end
  if codec == 0 then
    tree:add(OFFSET, offset, absolute)
  end
  for _, of in ipairs({ KEY, VALUE }) do
    local size, is_key = int(r, 4, "a length"), of == KEY
    need(r, size, is_key and "a key" or "a value")
    if codec == 0 or is_key and size >= 0 then
      of = codec == 0 and of or MESSAGE_KEY
      read_blob(r, tree, of, is_key and "key" or "value", size >= 0 and size or nil)
    elseif not is_key and size >= 0 then
      read_compressed(part(r, size), tree, codec, read_wrapped, around)
      r.at = r.at + size
    end
  end
end

-- A set: whole batches, and possibly part of a batch at the end. Fetch cuts at a size.
function read_set(r, tree, wrapper)
  while r.stop - r.at >= 12 do
    count_item(r)
    local size = peek(r, 8, 4)
    if size < 14 then
      fail(r, format("a batch of %d bytes", size))
    elseif r.stop - r.at < 17 then
      break
    end
    local magic, whole = byte(r.raw, r.at + 17), size + 12
    if magic > 2 then
      fail(r, format("magic 0, 1 or 2, not %d", magic))
    elseif whole > r.stop - r.at then
      break
    elseif whole < OVERHEAD[magic] then
      fail(r, format("a batch of %d bytes", size))
    end
    local leaf = tree:add(magic == 2 and BATCH_FIELD or MESSAGE_FIELD, r.tvb(r.at, whole))
    guarded(part(r, whole), leaf, magic == 2 and read_batch or read_message, magic, wrapper)
    r.at = r.at + whole
  end
  if r.at < r.stop then
    tree:add(CUT, r.tvb(r.at, r.stop - r.at))
  end
end
