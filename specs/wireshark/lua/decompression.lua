-- Decompression: gzip and (from Wireshark 4.4 on) zstd by Wireshark, snappy and lz4 here.

local CODECS = { [0] = "none", "gzip", "snappy", "lz4", "zstd" }
local HAS_ZSTD = rawget(TvbRange, "uncompress_zstd") ~= nil
local MOST_OUTPUT = 4 * 1024 * 1024 -- of snappy and lz4: a byte takes 16 of memory
local MOST_GZIP = 16 * 1024 * 1024 -- as it says itself: Wireshark takes time by the square of it

local function unreadable(...) -- raises what is wrong with the bytes, without a place in this file
  error(format(...), 0)
end

local function octet(raw, at)
  return byte(raw, at) or unreadable("the bytes end too early")
end

local function append(out, raw, from, size) -- bytes of a text, from a position that counts from 1
  if size > #raw - from + 1 then
    unreadable("%d bytes announced, %d remain", size, math.max(#raw - from + 1, 0))
  elseif #out + size > MOST_OUTPUT then
    unreadable("more than %d bytes of output", MOST_OUTPUT)
  end
  for at = from, from + size - 1 do
    out[#out + 1] = byte(raw, at)
  end
  return from + size
end

local function copy(out, distance, size) -- of what came out before; it may go on in itself
  local n = #out
  if distance < 1 or distance > n then
    unreadable("a copy from %d bytes before, where %d are", distance, n)
  elseif n + size > MOST_OUTPUT then
    unreadable("more than %d bytes of output", MOST_OUTPUT)
  end
  for at = n + 1, n + size do
    out[at] = out[at - distance]
  end
end

local function little(raw, at, size)
  local value = 0
  for i = at + size - 1, at, -1 do
    value = value * 256 + octet(raw, i)
  end
  return value
end

local function raw_snappy(out, raw, at)
  while octet(raw, at) > 127 do -- the size of the output, which is seen anyway
    at = at + 1
  end
  at = at + 1
  while at <= #raw do
    local tag = octet(raw, at)
    local kind, rest = tag % 4, floor(tag / 4)
    at = at + 1
    if kind == 0 then
      local size = rest + 1
      if rest >= 60 then
        size = little(raw, at, rest - 59) + 1
        at = at + rest - 59
      end
      at = append(out, raw, at, size)
    elseif kind == 1 then
      copy(out, floor(tag / 32) * 256 + octet(raw, at), 4 + rest % 8)
      at = at + 1
    else
      local width = kind == 2 and 2 or 4
      copy(out, little(raw, at, width), rest + 1)
      at = at + width
    end
  end
end

local XERIAL = "\130SNAPPY\0"

local function snappy(out, raw)
  if sub(raw, 1, 8) ~= XERIAL then
    return raw_snappy(out, raw, 1)
  end
  local at = 17 -- chunks, each behind its size
  while at + 4 <= #raw do
    local size, left = int({ raw = raw, at = at - 1, stop = #raw }, 4), #raw - at - 3
    if size < 0 or size > left then
      unreadable("a chunk of %d bytes announced, %d remain", size, left)
    end
    raw_snappy(out, sub(raw, at + 4, at + 3 + size), 1)
    at = at + 4 + size
  end
end

local function lz4_length(raw, at, length) -- a nibble, and more bytes if it is full
  if length == 15 then
    repeat
      local more = octet(raw, at)
      length, at = length + more, at + 1
    until more < 255
  end
  return length, at
end

local function lz4_block(out, raw)
  local at, size = 1, nil
  while at <= #raw do
    local token = octet(raw, at)
    size, at = lz4_length(raw, at + 1, floor(token / 16))
    at = append(out, raw, at, size)
    if at <= #raw then -- else these were the last literals
      local distance = little(raw, at, 2)
      size, at = lz4_length(raw, at + 2, token % 16)
      copy(out, distance, size + 4)
    end
  end
end

local function lz4(out, raw) -- a frame: descriptor, blocks, each behind its size
  local flags = octet(raw, 5)
  local has_size, has_dictionary = floor(flags / 8) % 2, flags % 2
  local checked = floor(flags / 16) % 2
  local at = 8 + 8 * has_size + 4 * has_dictionary
  while true do
    local size = little(raw, at, 4)
    if size == 0 then
      return
    end
    local stored, block = size >= 0x80000000, size % 0x80000000
    local left = #raw - at - 3 - 4 * checked
    if block > left then
      unreadable("a block of %d bytes announced, %d remain", block, left)
    elseif stored then
      append(out, raw, at + 4, block)
    else
      lz4_block(out, sub(raw, at + 4, at + 3 + block))
    end
    at = at + 4 + block + 4 * checked
  end
end

local function text_of(out)
  local parts = {}
  for at = 1, #out, 4096 do
    parts[#parts + 1] = string.char(table.unpack(out, at, math.min(at + 4095, #out)))
  end
  return table.concat(parts)
end

-- Decompresses the remaining bytes of a reader and returns a new reader. Raises an error for invalid bytes.
local function decompressed(r, codec)
  local range = r.tvb(r.at, r.stop - r.at)
  if codec == 1 and little(r.raw, r.stop - 3, 4) > MOST_GZIP then
    unreadable("its end announces more than %d bytes", MOST_GZIP)
  end
  if codec == 1 or codec == 4 then
    local name = CODECS[codec] .. " records"
    if codec == 1 then
      range = range:uncompress(name)
    else
      range = range:uncompress_zstd(name)
    end
    if not range then
      unreadable("Wireshark makes nothing of it")
    end
    return reader(range:tvb(), 0, range:len(), r.known)
  end
  local out = {}
  local decompress = codec == 2 and snappy or lz4
  decompress(out, sub(r.raw, r.at + 1, r.stop))
  local tvb = ByteArray.new(text_of(out), true):tvb(CODECS[codec] .. " records")
  return reader(tvb, 0, #out, r.known)
end
