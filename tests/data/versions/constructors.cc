/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The constructor of B is inlined early, that of C later, that of A never. */
struct A { unsigned v; __attribute__((noinline)) explicit A(int n); };
struct B { unsigned v; explicit B(int n) : v(1) {
    for (int i = 0; i < n; i++) {
        v += v << 3 ^ 5;
    }
} };
A::A(int n) : v(3) {
    for (int i = 0; i < n; i++) {
        v ^= v >> 2 ^ 77;
    }
}
struct C { unsigned v; explicit C(int n); };
static unsigned table[64];
inline C::C(int n) : v(1) {
    for (int i = 0; i < n; i++) {
        if (v % 3 == 0) {
            v += table[i & 63] << 3 ^ 5;
            table[v & 63] ^= v;
        } else {
            v = v * 5 + table[v & 63];
        }
        if (v % 7 == 0) {
            table[i & 31]++;
            v ^= v >> 5;
        } else if (v % 11 == 3) {
            table[i & 15] += v;
            v += 77;
        }
    }
}
__attribute__((noinline)) unsigned sum(int n) {
    unsigned s = 0;
    for (int i = 0; i < n; i++) {
        B b(i);
        s += b.v;
        C c(i);
        s += c.v;
        A a(i % 7);
        s += a.v;
    }
    return s;
}
int main(int argc, char **) { return sum(60 * argc) == 1; }
