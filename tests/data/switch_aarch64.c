// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/* A switch of so many cases that clang makes a jump table of it. */
#define F(n)                                                                                       \
    __attribute__((noinline)) int f##n(int a)                                                      \
    {                                                                                              \
        __asm__ volatile("");                                                                      \
        return a * n + 1;                                                                          \
    }
F(1)
F(2)
F(3)
F(4)
F(5)
F(6)
F(7)
F(8)
F(9)

__attribute__((noinline)) int turn(int op, int a)
{
    int r = 0;
    switch (op) {
    case 0:
        r = f1(a) + f9(a);
        break;
    case 1:
        r = f2(a) ^ f8(a);
        break;
    case 2:
        r = f3(a) * f7(a);
        break;
    case 3:
        r = f4(f6(a));
        break;
    case 4:
        r = f5(a) - f5(op);
        break;
    case 5:
        r = f6(a) | f4(a);
        break;
    case 6:
        r = f7(f3(a));
        break;
    case 7:
        r = f8(f2(a));
        break;
    case 8:
        r = f9(a) & f1(a);
        break;
    case 9:
        r = f2(f2(a));
        break;
    case 10:
        r = f3(a) + 7;
        break;
    case 11:
        r = f4(f1(a));
        break;
    case 12:
        r = f6(a) ^ f5(op);
        break;
    case 13:
        r = f8(f8(a));
        break;
    case 14:
        r = f9(f7(a));
        break;
    default:
        return -1;
    }
    return r + f1(r);
}

int _start(int n)
{
    int sum = 0;
    for (int i = 0; i < n; i++) {
        sum += turn(i % 16, i);
    }
    return sum;
}
