-- SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
-- What the Lua interpreter does here: sums, tables, strings, patterns, sorting, closures, objects, coroutines.
local size, seed = tonumber(arg[1]), tonumber(arg[2])

local state = seed
local function random(n)
    state = (state * 1103515245 + 12345) % 2147483648
    return state // 65536 % n + 1
end

local function fibonacci(n)
    if n < 2 then return n end
    return fibonacci(n - 1) + fibonacci(n - 2)
end

local function queens(n)
    local column, up, down, found = {}, {}, {}, 0
    local function place(row)
        if row > n then found = found + 1 return end
        for at = 1, n do
            if not (column[at] or up[row + at] or down[row - at + n]) then
                column[at], up[row + at], down[row - at + n] = true, true, true
                place(row + 1)
                column[at], up[row + at], down[row - at + n] = nil, nil, nil
            end
        end
    end
    place(1)
    return found
end

local function sieve(n)
    local prime, count = {}, 0
    for i = 2, n do prime[i] = true end
    for i = 2, n do
        if prime[i] then
            count = count + 1
            for k = i * i, n, i do prime[k] = false end
        end
    end
    return count
end

local function words(n)
    local parts = {}
    for i = 1, n do parts[i] = string.char(96 + random(26), 96 + random(26)) .. random(50) end
    local text, seen = table.concat(parts, " "), {}
    for word in text:gmatch("%a+%d*") do seen[word] = (seen[word] or 0) + 1 end
    local names = {}
    for name in pairs(seen) do names[#names + 1] = name end
    table.sort(names, function(a, b)
        if seen[a] ~= seen[b] then return seen[a] > seen[b] end
        return a < b
    end)
    return #names, (text:gsub("%d+", function(number) return number + 1 end)):len(), text:upper():find("ZZ", 1, true)
end

local Shape = {}
Shape.__index = Shape
function Shape.new(width, height) return setmetatable({ width = width, height = height }, Shape) end
function Shape:area() return self.width * self.height end
local Round = setmetatable({}, { __index = Shape })
Round.__index = Round
function Round.new(width) return setmetatable({ width = width, height = width }, Round) end
function Round:area() return 3.14 * self.width ^ 2 / 4 end

local function objects(n)
    local sum = 0
    for i = 1, n do
        local shape = random(3) == 1 and Round.new(i % 10) or Shape.new(i % 7, i % 5)
        sum = sum + shape:area()
    end
    return sum
end

local function pipeline(n)
    local numbers = coroutine.wrap(function()
        for i = 1, n do coroutine.yield(i) end
    end)
    local sum = 0
    for number in numbers do sum = sum + (number % 3 == 0 and number or 1) end
    return sum
end

local function matrix(n)
    local function make()
        local rows = {}
        for i = 1, n do
            rows[i] = {}
            for k = 1, n do rows[i][k] = random(100) / 10 end
        end
        return rows
    end
    local a, b, trace = make(), make(), 0
    for i = 1, n do
        for k = 1, n do
            local sum = 0
            for j = 1, n do sum = sum + a[i][j] * b[j][k] end
            if i == k then trace = trace + sum end
        end
    end
    return trace
end

print(fibonacci(16 + size // 8), queens(6 + size // 20), sieve(2000 * size), matrix(8 + size))
for _ = 1, size do
    print(words(150 + random(100)))
    print(objects(2000), pipeline(400))
end
