-- Reading: bytes with an end, and the numbers in them.

local MOST_ITEMS = 100000 -- of one message; Wireshark gives up a packet at a million
local byte, sub, format, floor = string.byte, string.sub, string.format, math.floor

-- A reader: bytes `raw` of `tvb`, with the remaining bytes from `at` to `stop`, counted from 0. `known`
-- belongs to the whole message: its items so far, and the last value of fields that determine other contents.
local function reader(tvb, at, stop, known)
  return { tvb = tvb, raw = tvb:raw(), at = at, stop = stop, known = known }
end

local function part(r, size) -- the next bytes, to be read by themselves
  return { tvb = r.tvb, raw = r.raw, at = r.at, stop = r.at + size, known = r.known }
end

local function fail(r, why)
  error({ at = r.at, why = why }, 0)
end

local function need(r, size, what)
  if size > r.stop - r.at then
    fail(r, format("%d bytes expected for %s, %d remain", size, what, r.stop - r.at))
  end
end

local function count_item(r)
  local known = r.known
  known.items = known.items + 1
  if known.items > MOST_ITEMS then
    fail(r, format("more than %d fields: the rest is not shown", MOST_ITEMS))
  end
end

local HALF = { 0x80, 0x8000, [4] = 0x80000000 }

local function int(r, size, what)
  need(r, size, what)
  local value = 0
  for i = r.at + 1, r.at + size do
    value = value * 256 + byte(r.raw, i)
  end
  r.at = r.at + size
  return value < HALF[size] and value or value - 2 * HALF[size]
end

local function peek(r, offset, size) -- the same further on, without going there
  return int({ raw = r.raw, at = r.at + offset, stop = r.stop }, size, "a number")
end

local function uvarint(r) -- as Kafka reads it: up to 5 bytes, as a signed 32-bit number
  local value, scale = 0, 1
  for i = r.at + 1, r.at + 5 do
    if i > r.stop then
      fail(r, "a varint is cut off")
    end
    local b = byte(r.raw, i)
    value = value + b % 128 * scale
    if b < 128 then
      r.at = i
      value = value % 0x100000000
      return value < 0x80000000 and value or value - 0x100000000
    end
    scale = scale * 128
  end
  fail(r, "a varint goes on after 5 bytes")
end

local ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"

local function uuid_text(raw) -- 16 bytes as Kafka writes them: 22 characters of base64
  local text = {}
  for i = 1, 16, 3 do
    local a, b, c = byte(raw, i, i + 2)
    local bits = a * 65536 + (b or 0) * 256 + (c or 0)
    for shift = 1, b and 4 or 2 do
      local digit = floor(bits / 64 ^ (4 - shift)) % 64
      text[#text + 1] = sub(ALPHABET, digit + 1, digit + 1)
    end
  end
  return table.concat(text)
end
